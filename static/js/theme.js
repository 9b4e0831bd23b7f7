// Runs before the first paint: the chosen colours, and the mark that scripts work. It must stay tiny.
(() => {
  const root = document.documentElement;
  root.classList.add("has-script");
  try {
    const theme = localStorage.getItem("sage-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // No storage: the system's colours it is.
  }
})();
