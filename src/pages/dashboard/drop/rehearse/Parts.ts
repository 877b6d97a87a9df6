/** The parts of a drop's rehearsals: the list, how far one is, and why one failed. */
import type { AdminAnswer } from "../../../ApiClients.ts"
import { html, type Html } from "../../../Html.ts"
import { formId } from "../../FormId.ts"
import { badge, barPicture, card, count, counted, linkButton } from "../../Parts.ts"
import { instant, table, zonedInstant } from "../../Table.ts"
import type { Drop } from "../Drop.ts"

export type Rehearsal = AdminAnswer<"rehearsals", "listRehearsals">["data"][number]

const resultOf = ({ status, verdict, progress }: Rehearsal): Html => {
  if (status === "RUNNING") return badge(`${percentOf(progress)} done`, "next")
  if (verdict === null) return badge("Broke off", "bad")
  return badge(verdict.text, verdict.isGood ? "ok" : "warn")
}

/** The rehearsals, the newest first. */
export const listOf = ({ path }: Drop, rehearsals: ReadonlyArray<Rehearsal>): Html | false =>
  rehearsals.length > 0 &&
  table(
    "Rehearsals of this drop",
    rehearsals,
    [
      { title: "Begun", cell: ({ id, createdAt }) => html`<a href="${path}/rehearse/${id}">${instant(createdAt)}</a>` },
      { title: "People", cell: ({ people }) => count(people) },
      { title: "Result", cell: resultOf }
    ],
    ""
  )

const percentOf = (progress: number): string => `${Math.floor(progress * 100)} %`

/** The note that one is under way. */
export const runningNote = ({ path }: Drop, { id, progress }: Rehearsal): Html =>
  card(
    "A rehearsal is under way",
    html`<p>${percentOf(progress)} done.</p>
      ${linkButton(`${path}/rehearse/${id}`, "Watch it", "primary")}`
  )

/** How far a rehearsal is. The script fetches it every second; without one, a link does. */
export const progressPart = ({ path, experience }: Drop, rehearsal: Rehearsal, mayCancel: boolean): Html => {
  const { id, progress, clockNow, people } = rehearsal
  const address = `${path}/rehearse/${id}`
  const share = { value: Math.round(progress * 1_000), style: "main" } as const
  return html`<section class="card" data-part="rehearsal">
    <h2>${counted(people, "person rehearses", "people rehearse")} this drop</h2>
    <div class="bar">${barPicture([share], 1_000, `${percentOf(progress)} done`)}</div>
    <p role="status">
      ${percentOf(progress)} done.
      ${clockNow === null ? "The drop is being copied." : html`Its clock shows ${zonedInstant(clockNow, experience.timeZone)}.`}
    </p>
    <p class="muted">You can leave this page: the report will be in the list. <a href="${address}">Look again</a></p>
    ${
      mayCancel &&
      html`<form method="post" action="${address}/cancel" class="action">
        ${formId()}<button class="quiet">Cancel the rehearsal</button>
      </form>`
    }
  </section>`
}

/** Why a rehearsal failed, and the way on. */
export const failedCard = ({ path }: Drop, { problem, createdAt }: Rehearsal): Html =>
  card(
    "This rehearsal broke off",
    html`<p>It was begun at ${instant(createdAt)}. ${problem}</p>
      <p class="muted">The drop itself has not changed.</p>
      ${linkButton(`${path}/rehearse`, "Rehearse again", "primary")}`
  )
