// Colours live in the style sheet; canvases ask for them here.

export type Theme = "auto" | "light" | "dark";

const listeners: (() => void)[] = [];
let cache = new Map<string, string>();

export function colour(name: string): string {
  let value = cache.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    cache.set(name, value);
  }
  return value;
}

export const KIND_COLOURS = ["weights", "optimizer", "gradients", "activations", "workspace", "unmanaged"];
export const ACTION_COLOURS = ["keep", "swap", "recompute", "clean"];
export const STALL_COLOURS = ["stall-issue", "stall-sync", "stall-in", "stall-room"];

export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

export function themeChanged(): void {
  cache = new Map();
  for (const listener of listeners) listener();
}

export function setTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeChanged();
}

/** Follows the system; prints in light colours whatever is chosen. */
export function watchTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeChanged);
  let before: string | undefined;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    setTheme("light");
  });
  addEventListener("afterprint", () => setTheme((before as Theme | undefined) ?? "auto"));
}
