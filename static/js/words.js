// Texts for people stand in `data-` attributes of the page, in its language. This puts values into one of them.

const NUMBERS = document.documentElement.lang || undefined;

// `{name}` in the text becomes the value of that name; numbers are written as the language does.
export function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => shown(values[name]));
}

function shown(value) {
  return typeof value === "number" ? value.toLocaleString(NUMBERS) : value;
}
