/** The form that begins a rehearsal. */
import type { Operator } from "../../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../../domain/organization/Person.ts"
import { defaultCrowd } from "../../../../domain/rehearsal/Crowd.ts"
import { servedPeopleMax } from "../../../../domain/rehearsal/Rehearsal.ts"
import { toText } from "../../../../domain/values/Time.ts"
import { html, type Html } from "../../../Html.ts"
import { Form, type Problems } from "../../form/Form.ts"
import type { RefusedForm } from "../../form/Refused.ts"
import { instantIn, numberIn, textIn } from "../../form/Typed.ts"
import { formId } from "../../FormId.ts"
import { card, count } from "../../Parts.ts"
import type { Drop } from "../Drop.ts"

export type RefusedBegin = RefusedForm<"begin">

const what = html`<p class="muted">
  A crowd comes to a copy of this drop in test mode, waits, buys, gives up or does not come, as yours would. Weeks pass
  in minutes. Nobody is told, nothing is sold, and the drop itself stays as it is. You then read who got what, how long
  people waited, and what looks wrong.
</p>`

/** The form, or for those who may not begin one the sentence that says so. */
export const beginForm = (operator: Operator, { experience, path }: Drop, sent: RefusedBegin | undefined): Html => {
  const title = "Rehearse this drop"
  if (!mayDo(operator.role, "admin")) {
    return card(
      title,
      html`${what}
        <p>An admin can begin one. You can read every report.</p>`
    )
  }
  const form = new Form(sent, "rehearse-")
  const isAsked = sent?.problems.has("TEST_MODE_IN_USE") === true || sent?.fields.has("archive") === true
  const fields = html`<div class="columns">
      ${form.input("people", {
        label: "How many people come",
        type: "number",
        min: 1,
        max: servedPeopleMax,
        value: defaultCrowd.people,
        hint: `At most ${count(servedPeopleMax)}. More people take longer.`
      })}
      ${form.input("begins", {
        label: "The copy begins",
        type: "datetime-local",
        isOptional: true,
        hint: `Empty: an hour before the drop itself. All its times move along. Clocks of ${experience.timeZone}.`
      })}
    </div>
    ${isAsked && form.boxes("archive", "Drops of test mode", [["yes", "Archive them at the end of the rehearsal"]])}
    <details ${sent?.problems.has("seed") === true && html`open`}>
      <summary>Advanced</summary>
      ${form.input("seed", {
        label: "Seed",
        type: "number",
        max: 2_147_483_647,
        value: 1,
        hint: "The same number brings the same people, who do the same. Another one shows how much is chance."
      })}
    </details>`
  return card(
    title,
    html`${what} ${form.summary("Nothing was begun. This needs another look:")}
      <form method="post" action="${path}/rehearse">${formId()}${fields}<button>Rehearse</button></form>`
  )
}

/** The body of the operation that was typed, and what is wrong with it. */
export const payloadOf = ({ experience }: Drop, fields: URLSearchParams) => {
  const problems = new Map<string, string>()
  const begins = textIn(fields, "begins")
  const from = begins === undefined ? undefined : instantIn(begins, experience.timeZone)
  if (from !== undefined && "problem" in from) problems.set("begins", from.problem)
  const payload = {
    people: numberIn(fields, "people"),
    seed: numberIn(fields, "seed"),
    from: from !== undefined && "at" in from ? toText(from.at) : undefined,
    archiveTestExperiences: fields.get("archive") === "yes"
  }
  return { payload, problems: problems as Problems }
}
