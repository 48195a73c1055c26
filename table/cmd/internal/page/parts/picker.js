// A picture of many things, one of which is chosen by pointer or keys.

/**
 * A Picker draws a view on a canvas, which is a slider to screen readers: its
 * value is the number of the chosen thing. A view has
 *
 *   count         number of things
 *   layout(width) returns the height
 *   draw(context)
 *   rects(i)      the rectangles of thing i: [x, y, width, height]s
 *   at(x, y)      the thing at a point
 *   describe(i)   {title, facts, more: elements, if there are any}
 *   chose(i)      optional; called when a thing is chosen
 */
class Picker {
  constructor(canvas, info, view) {
    Object.assign(this, { canvas, info, view, chosen: 0, hovered: -1, picture: element("canvas") });
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "slider");
    canvas.setAttribute("aria-valuemin", 0);
    canvas.addEventListener("pointermove", (event) => this.hover(this.under(event)));
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("click", (event) => this.choose(this.under(event)));
    canvas.addEventListener("keydown", (event) => this.key(event));
    onResize(canvas.parentElement, () => this.redraw());
    onTheme(() => this.redraw());
    this.recount();
  }

  /** recount adapts to a changed number of things. */
  recount() {
    this.canvas.setAttribute("aria-valuemax", this.view.count - 1);
    this.chosen = Math.min(this.chosen, this.view.count - 1);
    this.hovered = -1;
    this.tell();
  }

  under(event) {
    return this.view.at(event.offsetX, event.offsetY);
  }

  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    this.tell();
    this.frame();
  }

  choose(i) {
    if (i < 0) return;
    this.chosen = Math.min(i, this.view.count - 1);
    if (this.hovered !== i) this.hovered = -1; // show the chosen thing, wherever the pointer rests
    this.tell();
    this.frame();
  }

  key(event) {
    const page = Math.max(2, Math.round(this.view.count / 20));
    const steps = { ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.hovered = -1;
    this.choose(Math.max(0, this.chosen + steps[event.key]));
  }

  /** tell describes the hovered thing or, if there is none, the chosen one. */
  tell() {
    const { title, facts, more = [] } = this.view.describe(this.hovered < 0 ? this.chosen : this.hovered);
    this.info.replaceChildren(element("h3", {}, title), factList(facts), ...more);
    if (this.hovered >= 0 && this.hovered !== this.chosen) return;
    this.view.chose?.(this.chosen);
    this.canvas.setAttribute("aria-valuenow", this.chosen);
    this.canvas.setAttribute("aria-valuetext", [title, ...facts.map((fact) => fact.join(" "))].join(", "));
  }

  /** refresh redraws the canvas, if it has a size already. */
  refresh() {
    if (this.context) this.redraw();
  }

  redraw() {
    this.width = this.canvas.parentElement.clientWidth;
    this.height = this.view.layout(this.width);
    this.view.draw(sizeCanvas(this.picture, this.width, this.height));
    this.context = sizeCanvas(this.canvas, this.width, this.height);
    this.frame();
  }

  /** frame draws the picture, and frames around the hovered and the chosen thing. */
  frame() {
    if (!this.context) return;
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.drawImage(this.picture, 0, 0, this.width, this.height);
    for (const i of [this.hovered, this.chosen]) {
      if (i >= 0) this.view.rects(i).forEach((rect) => frameRect(this.context, rect));
    }
  }
}

/** frameRect draws a frame in two colors, one of which is visible on any background. */
function frameRect(context, [x, y, width, height]) {
  const wide = Math.max(width, 3);
  for (const [ground, line, out] of [[color("card"), 4, 1], [color("ink"), 2, 1]]) {
    context.strokeStyle = ground;
    context.lineWidth = line;
    context.strokeRect(x - out + 1, y + 1, wide + 2 * (out - 1), height - 2);
  }
}
