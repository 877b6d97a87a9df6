/** The parts of reports that are one HTML file without scripts or links. They print, and follow a dark or a light setting. */

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Returns a whole number with separators: `12,500`. */
export const number = (value: number): string => Math.round(value).toLocaleString("en")

/** Returns figures with their names, which are HTML. */
export const tiles = (figures: ReadonlyArray<readonly [name: string, value: string]>): string =>
  `<dl>${figures.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("")}</dl>`

/** Returns a table of cells, which are HTML. It scrolls where it is wider than the page. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const cells = (tag: "th" | "td") => (row: ReadonlyArray<string>) =>
    `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`
  return `<div class="table" tabindex="0"><table><thead>${cells("th")(head)}</thead><tbody>${rows.map(cells("td")).join("")}</tbody></table></div>`
}

/** Returns a list whose items hold or do not. The items are HTML. */
export const verdicts = (items: ReadonlyArray<{ readonly holds: boolean; readonly html: string }>): string =>
  `<ul>${items.map(({ holds, html }) => `<li class="${holds ? "good" : "bad"}">${holds ? "✓" : "✗"} ${html}</li>`).join("")}</ul>`

/** Returns the file. Its style is the only one. */
export const documentOf = (title: string, body: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><style>${style}</style></head><body>
${body}
</body></html>
`

export const style = `
:root { color-scheme: light dark; --one: #2563eb; --two: #0d9488; --three: #b45309; --bad: #dc2626; --good: #15803d; --line: #8884 }
@media (prefers-color-scheme: dark) { :root { --one: #60a5fa; --two: #2dd4bf; --three: #fbbf24; --bad: #f87171; --good: #4ade80 } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 1rem } dl div { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem }
dt { font-size: .8rem; opacity: .75 } dd { margin: 0; font-size: 1.25rem; font-weight: 600 }
.table { overflow-x: auto } table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; vertical-align: top }
figure { margin: 1.5rem 0 } svg { width: 100%; height: auto } svg text { font-size: 11px; fill: currentColor; opacity: .75 } .grid { stroke: var(--line) }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 8px; padding: .75rem; font: inherit; font-size: .9rem }
.verdict { font-weight: 600 } .good { color: var(--good) } .bad { color: var(--bad) } .warn { color: var(--three) } ul { list-style: none; padding: 0 } li { margin: .4rem 0 } small { opacity: .75 }
@media print { :root { color-scheme: light } body { max-width: none; margin: 0; font-size: 11pt } dl div, figure, tr, pre, li { break-inside: avoid } thead { display: table-header-group } h2 { break-after: avoid } .table { overflow: visible } }
`
