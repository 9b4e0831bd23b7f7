// Prints the page: the safety plan on one sheet.

document.getElementById("print").addEventListener("click", () => window.print());
