// A canvas over the shared stretch of time: axes, zooming by dragging, panning, keys, the common cursor.
// What is drawn in it is the business of its users.

import { el, perFrame } from "./dom";
import * as format from "./format";
import { colour, onThemeChange } from "./theme";
import { steer, steerByWheel, type TimeWindow } from "./time_window";
import { hideTooltip } from "./tooltip";

export interface Frame {
  context: CanvasRenderingContext2D;
  left: number;
  top: number;
  width: number;
  height: number;
  x(time: number): number;
}

export interface Painter {
  draw(frame: Frame): void;
  /** The pointer is at this place of the frame; in page coordinates for a tooltip. */
  hover(time: number, y: number, frame: Frame, pageX: number, pageY: number): void;
  /** A rectangle was drawn with the pointer, y from the top of the frame; false: only its times count. */
  select?(y0: number, y1: number, frame: Frame): boolean;
  reset?(): void;
}

const LEFT = 72;
const RIGHT = 16;
const BOTTOM = 26;
const TOP = 8;
const CLICK = 5; // pixels that do not make a drag

export class TimeCanvas {
  readonly element: HTMLCanvasElement;
  readonly redraw: () => void;
  private drag: { x: number; y: number; pan: boolean; begin: number; end: number } | null = null;
  private box: [number, number, number, number] | null = null;

  constructor(
    private window: TimeWindow,
    private painter: Painter,
    label: string,
    private cssHeight: number,
  ) {
    this.element = el("canvas", { class: "chart", tabindex: 0, role: "img", "aria-label": label });
    this.element.style.height = `${cssHeight}px`;
    this.redraw = perFrame(() => this.draw());
    window.listen(this.redraw);
    onThemeChange(this.redraw);
    new ResizeObserver(this.redraw).observe(this.element);
    this.listen();
  }

  resize(height: number): void {
    this.cssHeight = height;
    this.element.style.height = `${height}px`;
    this.redraw();
  }

  frame(): Frame {
    const width = Math.max(10, this.element.clientWidth - LEFT - RIGHT);
    const { begin, end } = this.window;
    return {
      context: this.element.getContext("2d")!,
      left: LEFT,
      top: TOP,
      width,
      height: this.cssHeight - TOP - BOTTOM,
      x: (time) => LEFT + ((time - begin) / (end - begin)) * width,
    };
  }

  private draw(): void {
    const scale = devicePixelRatio || 1;
    const width = Math.round(this.element.clientWidth * scale);
    const height = Math.round(this.cssHeight * scale);
    if (this.element.width !== width) this.element.width = width;
    if (this.element.height !== height) this.element.height = height;
    const frame = this.frame();
    const context = frame.context;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "12px system-ui, sans-serif";
    this.drawTimeAxis(frame);
    context.save();
    this.painter.draw(frame);
    context.restore();
    this.drawCursor(frame);
  }

  private drawTimeAxis({ context, left, top, width, height, x }: Frame): void {
    context.fillStyle = colour("muted");
    context.strokeStyle = colour("grid");
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineWidth = 1;
    for (const time of format.ticks(this.window.begin, this.window.end, width / 110)) {
      const at = Math.round(x(time)) + 0.5;
      context.beginPath();
      context.moveTo(at, top);
      context.lineTo(at, top + height + 4);
      context.stroke();
      context.fillText(format.time(time), Math.min(at, left + width - 14), top + height + 7);
    }
  }

  private drawCursor({ context, top, height, left, width, x }: Frame): void {
    if (this.box) {
      const [x0, y0, x1, y1] = this.box;
      context.fillStyle = colour("select");
      context.fillRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    }
    if (this.window.cursor === null) return;
    const at = Math.round(x(this.window.cursor)) + 0.5;
    if (at < left || at > left + width) return;
    context.strokeStyle = colour("cursor");
    context.beginPath();
    context.moveTo(at, top);
    context.lineTo(at, top + height);
    context.stroke();
  }

  private place(event: MouseEvent): { x: number; y: number; time: number; inside: boolean } {
    const bounds = this.element.getBoundingClientRect();
    const frame = this.frame();
    const x = event.clientX - bounds.left;
    const y = event.clientY - bounds.top - frame.top;
    const share = (x - frame.left) / frame.width;
    const time = this.window.begin + share * (this.window.end - this.window.begin);
    return { x, y, time, inside: share >= 0 && share <= 1 && y >= 0 && y <= frame.height };
  }

  private listen(): void {
    const canvas = this.element;
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "0" || event.key === "Home") this.painter.reset?.();
      if (steer(this.window, event.key)) event.preventDefault();
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        const frame = this.frame();
        steerByWheel(this.window, event, (this.place(event).x - frame.left) / frame.width);
      },
      { passive: false },
    );
    canvas.addEventListener("dblclick", () => {
      this.painter.reset?.();
      this.window.showAll();
    });
    canvas.addEventListener("pointerdown", (event) => {
      const { x, y } = this.place(event);
      if (event.button !== 0) return;
      this.drag = { x, y, pan: event.shiftKey, begin: this.window.begin, end: this.window.end };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.drop(event));
    canvas.addEventListener("pointerleave", () => {
      this.window.point(null);
      hideTooltip();
    });
  }

  private move(event: PointerEvent): void {
    const place = this.place(event);
    const frame = this.frame();
    if (this.drag?.pan) {
      const by = ((this.drag.x - place.x) / frame.width) * (this.drag.end - this.drag.begin);
      this.window.show(this.drag.begin + by, this.drag.end + by);
      return;
    }
    if (this.drag) {
      const tall = this.painter.select && Math.abs(place.y - this.drag.y) > 2 * CLICK;
      this.box = tall
        ? [this.drag.x, this.drag.y + frame.top, place.x, place.y + frame.top]
        : [this.drag.x, frame.top, place.x, frame.top + frame.height];
      hideTooltip();
      this.redraw();
      return;
    }
    if (!place.inside) {
      this.window.point(null);
      hideTooltip();
      return;
    }
    this.window.point(place.time);
    this.painter.hover(place.time, place.y, frame, event.clientX, event.clientY);
  }

  private drop(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    this.box = null;
    if (!drag || drag.pan) return;
    const place = this.place(event);
    const frame = this.frame();
    const time = (x: number) => drag.begin + ((x - frame.left) / frame.width) * (drag.end - drag.begin);
    const tall = Math.abs(place.y - drag.y) > 2 * CLICK;
    if (Math.abs(place.x - drag.x) < CLICK && !tall) {
      this.redraw();
      return;
    }
    if (tall) this.painter.select?.(Math.min(drag.y, place.y), Math.max(drag.y, place.y), frame);
    if (Math.abs(place.x - drag.x) >= CLICK)
      this.window.show(time(Math.min(drag.x, place.x)), time(Math.max(drag.x, place.x)));
    this.redraw();
  }
}
