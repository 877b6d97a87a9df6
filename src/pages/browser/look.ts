import { hearFrom } from "../../client/moving/time.ts"

/**
 * Reads the public facts, which caches answer. A mechanism that opens, closes or sells out needs another page; a fact,
 * such as the highest bid, changes only its text.
 */
export async function look(
  url: string,
  box: HTMLElement,
  trusted: (html: string) => string,
  swap: () => Promise<void>
): Promise<void> {
  const reply = await fetch(url, { headers: { accept: "text/html;part=room" } })
  if (!reply.ok) return
  hearFrom(reply)
  const shown = document.createElement("template")
  shown.innerHTML = trusted(await reply.text())
  for (const theirs of shown.content.querySelectorAll<HTMLElement>("[data-id]")) {
    const mine = box.querySelector<HTMLElement>(`[data-id="${theirs.dataset["id"]}"]`)
    if (!mine) continue
    if (mine.dataset["open"] !== theirs.dataset["open"]) return swap()
    for (const fact of theirs.querySelectorAll<HTMLElement>("[data-fact]")) {
      const field = mine.querySelector(`[data-fact="${fact.dataset["fact"]}"]`)
      if (!field || field.textContent === fact.textContent) continue
      // At a falling price the form has the price too.
      if (fact.dataset["fact"] === "price") return swap()
      field.textContent = fact.textContent
    }
  }
}
