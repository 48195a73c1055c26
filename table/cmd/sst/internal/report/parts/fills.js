// Fills of the map: a color for each part, and a mark on it.

const tileSize = 8;

/** Marks as drawn on a tile. */
const strokes = {
  slash: [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]],
  backslash: [[0, 0, 8, 8], [6, -2, 10, 2], [-2, 6, 2, 10]],
  rows: [[0, 2, 8, 2], [0, 6, 8, 6]],
  columns: [[2, 0, 2, 8], [6, 0, 6, 8]],
  cross: [[0, 0, 8, 8], [0, 8, 8, 0]],
  dots: [[1, 2, 3, 2], [5, 6, 7, 6]],
};

/** Fills makes fills for a canvas, and caches them. */
class Fills {
  constructor(context) {
    this.context = context;
    this.made = new Map();
  }

  /** plain returns a part's color. */
  plain(kind) {
    return this.keep(kind, () => kind === "card" ? color(kind) : kind.startsWith("rgb") ? kind : color(`part-${kind.replaceAll(" ", "-")}`));
  }

  /** marked returns the color with the part's mark. */
  marked(kind) {
    const mark = marks[kind];
    return mark ? this.keep(`${kind} marked`, () => this.tile(kind, strokes[mark])) : this.plain(kind);
  }

  keep(name, make) {
    if (!this.made.has(name)) this.made.set(name, make());
    return this.made.get(name);
  }

  tile(kind, lines) {
    const ratio = window.devicePixelRatio || 1;
    const canvas = element("canvas");
    const context = sizeCanvas(canvas, tileSize, tileSize);
    context.fillStyle = this.plain(kind);
    context.fillRect(0, 0, tileSize, tileSize);
    context.strokeStyle = color("mark");
    context.lineWidth = 1.5;
    for (const [x, y, toX, toY] of lines) {
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(toX, toY);
      context.stroke();
    }
    const pattern = this.context.createPattern(canvas, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / ratio));
    return pattern;
  }

  fill(style, x, y, width, height) {
    this.context.fillStyle = style;
    this.context.fillRect(x, y, width, height);
  }
}

/** swatch returns a sample of a part's fill for a legend. */
function swatch(kind) {
  const canvas = element("canvas", { className: "swatch", "aria-hidden": "true" });
  const draw = () => {
    const fills = new Fills(sizeCanvas(canvas, 22, 14));
    fills.fill(fills.marked(kind), 0, 0, 22, 14);
  };
  draw();
  onTheme(draw);
  return canvas;
}
