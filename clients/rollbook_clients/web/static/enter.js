// The code of an invitation is in the fragment, which browsers do not send to servers: submit it once.
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
