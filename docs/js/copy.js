// The button of a code block copies what one types: no prompts, and no output of a session.
const PROMPT = /^(?:>>>|\.\.\.|\$)(?: |$)/;

document$.subscribe(() => {
  for (const code of document.querySelectorAll("pre > code")) {
    const lines = code.textContent.split("\n");
    const typed = lines.filter((line) => PROMPT.test(line)).map((line) => line.replace(PROMPT, ""));
    if (PROMPT.test(lines[0])) code.dataset.copy = typed.join("\n");
  }
});
