// One box beside the pointer, for all charts.

import { el, replaceChildren } from "./dom";

const box = el("div", { class: "tooltip", role: "status", "aria-live": "polite", hidden: true });

export type Row = [name: string, value: string, colour?: string];

export function showTooltip(x: number, y: number, title: string, rows: Row[], notes: string[] = []): void {
  if (!box.isConnected) document.body.append(box);
  const table = el("table");
  for (const [name, value, colour] of rows) {
    const mark = el("span", { class: "mark" });
    if (colour) mark.style.background = colour;
    table.append(el("tr", {}, el("td", {}, colour ? mark : null, name), el("td", { class: "number" }, value)));
  }
  replaceChildren(box, el("strong", {}, title), table, ...notes.map((note) => el("div", { class: "note" }, note)));
  box.hidden = false;
  const margin = 14;
  const left = x + margin + box.offsetWidth > innerWidth ? x - margin - box.offsetWidth : x + margin;
  const top = Math.min(Math.max(4, y + margin), innerHeight - box.offsetHeight - 4);
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${top}px`;
}

export function hideTooltip(): void {
  box.hidden = true;
}
