// Files dropped anywhere on the page are put into the form's file input.
const form = document.querySelector("form.drop");
const input = form.querySelector('input[type="file"]');

document.addEventListener("dragover", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  form.classList.add("over");
});
document.addEventListener("dragleave", () => form.classList.remove("over"));
document.addEventListener("drop", async (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  form.classList.remove("over");
  input.files = input.multiple ? await all(event.dataTransfer) : event.dataTransfer.files;
  form.requestSubmit();
});

/** The dropped files, including those in dropped folders. */
async function all(dropped) {
  const entries = [...dropped.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return dropped.files;
  const found = new DataTransfer();
  for (const entry of entries) await collect(entry, found);
  return found.files;
}

async function collect(entry, found) {
  if (entry.isFile) {
    found.items.add(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return;
    for (const inside of batch) await collect(inside, found);
  }
}
