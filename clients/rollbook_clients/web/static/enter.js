// An invitation stands in the fragment, which no server sees: it is handed in once.
const form = document.getElementById("enter");
const code = location.hash.slice(1);
const tried = `${location.pathname}#${code}`;
if (code) {
  form.elements.code.value = code;
  let before = null;
  try {
    before = sessionStorage.getItem("tried");
    sessionStorage.setItem("tried", tried);
  } catch {
    before = tried;
  }
  if (before !== tried) form.submit();
}
