// Sends the browser's time zone: in a cookie, and in a field of the sign-up form.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export function sendTimezone() {
  if (!zone) return;
  for (const field of document.querySelectorAll("input[data-browser-timezone]")) field.value = zone;
  if (document.cookie.split("; ").includes(`sage_timezone=${zone}`)) return;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `sage_timezone=${zone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
