// Numbers for people.

const number = (n) => n.toLocaleString("en-US", { maximumFractionDigits: 0 });

/** decimal formats n with this many digits after the point. */
const decimal = (n, digits) => n.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const singular = new Map([["entries", "entry"], ["bytes", "byte"]]);

/** count formats a number of things, in the plural if n is not 1. */
function count(n, things) {
  return `${number(n)} ${n === 1 ? singular.get(things) ?? things.slice(0, -1) : things}`;
}

/** size returns a number of bytes in the largest fitting unit. */
function size(n) {
  if (n < 1000) return count(n, "bytes");
  let unit = -1;
  while (n >= 999.5 && unit < 4) {
    n /= 1000;
    unit++;
  }
  return `${n < 9.95 ? decimal(n, 1) : number(n)} ${"kMGTP"[unit]}B`;
}

/** mean formats an average. */
const mean = (n) => decimal(n, Number.isInteger(n) ? 0 : 1);

/** percent formats a share. Small shares have more digits. */
function percent(share) {
  const value = 100 * share;
  if (value !== 0 && value < 0.0001) return "< 0.0001 %";
  const digits = value === 0 || value >= 10 ? 1 : value >= 1 ? 2 : 4;
  return `${decimal(value, digits)} %`;
}

const hexWord = (n) => "0x" + hex(n, 8);
