// The stretch of time that the charts show together, and the moment that is pointed at.

export class TimeWindow {
  begin = 0;
  end: number;
  cursor: number | null = null;
  private listeners: ((what: "range" | "cursor") => void)[] = [];

  constructor(private full: number) {
    this.end = full;
  }

  get length(): number {
    return this.full;
  }

  get isWhole(): boolean {
    return this.begin === 0 && this.end === this.full;
  }

  listen(listener: (what: "range" | "cursor") => void): void {
    this.listeners.push(listener);
  }

  /** Another step: everything is shown again. */
  reset(full: number): void {
    this.full = full;
    this.show(0, full);
  }

  show(begin: number, end: number): void {
    const least = Math.max(1, this.full * 1e-6);
    const length = Math.min(this.full, Math.max(least, end - begin));
    this.begin = Math.min(Math.max(0, begin), this.full - length);
    this.end = this.begin + length;
    this.tell("range");
  }

  showAll(): void {
    this.show(0, this.full);
  }

  /** By a factor below 1 closer, around a moment (the middle if none is given). */
  zoom(factor: number, around = (this.begin + this.end) / 2): void {
    const length = (this.end - this.begin) * factor;
    const share = (around - this.begin) / (this.end - this.begin);
    this.show(around - share * length, around + (1 - share) * length);
  }

  /** By a share of what is shown. */
  pan(share: number): void {
    const by = (this.end - this.begin) * share;
    this.show(this.begin + by, this.end + by);
  }

  point(time: number | null): void {
    if (time === this.cursor) return;
    this.cursor = time;
    this.tell("cursor");
  }

  private tell(what: "range" | "cursor"): void {
    for (const listener of this.listeners) listener(what);
  }
}

/** Arrow keys, + and -, 0: the same in every chart. True if the key was one of them. */
export function steer(window: TimeWindow, key: string): boolean {
  switch (key) {
    case "ArrowLeft":
      window.pan(-0.1);
      return true;
    case "ArrowRight":
      window.pan(0.1);
      return true;
    case "+":
    case "=":
      window.zoom(0.7);
      return true;
    case "-":
      window.zoom(1 / 0.7);
      return true;
    case "0":
    case "Home":
      window.showAll();
      return true;
    default:
      return false;
  }
}

/** Wheel with Ctrl zooms, sideways pans; the page scrolls otherwise. */
export function steerByWheel(window: TimeWindow, event: WheelEvent, share: number): void {
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    window.zoom(Math.exp(event.deltaY * 0.005), window.begin + share * (window.end - window.begin));
  } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    window.pan(event.deltaX / 1000);
  }
}
