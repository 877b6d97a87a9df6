/** What the bench is doing, on the standard error: one line that is rewritten on a terminal, else a line each. */

const isTerminal = process.stderr.isTTY
let lastPlain = ""

/** A passing state: replaced by the next one; left out where the output is not a terminal. */
export function show(text: string): void {
  if (isTerminal) process.stderr.write(`\r\u001b[2K${text.slice(0, (process.stderr.columns ?? 100) - 1)}`)
}

/** A line that stays. */
export function say(text: string): void {
  if (text === lastPlain) return
  lastPlain = text
  process.stderr.write(isTerminal ? `\r\u001b[2K${text}\n` : `${text}\n`)
}
