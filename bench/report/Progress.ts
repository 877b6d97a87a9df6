/** Progress on standard error: one rewritten line on a terminal, otherwise one line per message. */

const isTerminal = process.stderr.isTTY
let lastPlain = ""

/** Shows a temporary message that the next one replaces. Prints nothing if the output is not a terminal. */
export function show(text: string): void {
  if (isTerminal) process.stderr.write(`\r\u001b[2K${text.slice(0, (process.stderr.columns ?? 100) - 1)}`)
}

/** Prints a permanent line. */
export function say(text: string): void {
  if (text === lastPlain) return
  lastPlain = text
  process.stderr.write(isTerminal ? `\r\u001b[2K${text}\n` : `${text}\n`)
}
