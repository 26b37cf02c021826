// Building the page. Text from traces only ever goes through textContent.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as (event: Event) => void);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(element: Element, children: Child[]): void {
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
}

export function replaceChildren(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

/** A labelled <select>. */
export function choice(
  label: string,
  options: { value: string; text: string }[],
  chosen: string,
  onChange: (value: string) => void,
  id?: string,
): HTMLLabelElement {
  const select = el("select", { id });
  for (const option of options)
    select.append(el("option", { value: option.value, selected: option.value === chosen }, option.text));
  select.addEventListener("change", () => onChange(select.value));
  return el("label", { class: "choice" }, `${label} `, select);
}

export function button(text: string, title: string, onClick: () => void, id?: string): HTMLButtonElement {
  const element = el("button", { type: "button", title, "aria-label": title, id }, text);
  element.addEventListener("click", onClick);
  return element;
}

/** Calls `f` once per frame at most, however often it is asked to. */
export function perFrame(f: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      f();
    });
  };
}
