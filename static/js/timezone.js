// Tells Sage where the browser is: in a cookie for every page, and in the field that signing up sends.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function tellTimezone() {
  if (!zone) return;
  for (const field of document.querySelectorAll("input[data-browser-timezone]")) field.value = zone;
  if (document.cookie.split("; ").includes(`sage_timezone=${zone}`)) return;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `sage_timezone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
