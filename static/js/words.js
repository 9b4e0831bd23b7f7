// Texts for people stand in `data-` attributes of the page, in its language. This puts values into one of them.

const LANGUAGE = document.documentElement.lang || undefined;
const NUMBERS = new Intl.NumberFormat(LANGUAGE, { useGrouping: "always" });
const SPACE = "\u00a0";

// `{name}` in the text becomes the value of that name; numbers are written as the language does.
export function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => shown(values[name]));
}

function shown(value) {
  return typeof value === "number" ? NUMBERS.formatToParts(value).map(written).join("") : value;
}

// As the server writes numbers: in Spanish with spaces between the thousands, where browsers put points.
function written({ type, value }) {
  return type === "group" && LANGUAGE === "es" ? SPACE : value;
}
