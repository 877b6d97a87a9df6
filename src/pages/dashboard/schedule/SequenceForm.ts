/** The form of one sequence: who may enter it, in which order it comes, and how often one person may order. */
import type { AdminAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import type { Experience } from "../drop/Drop.ts"
import { Form, type Sent } from "../form/Form.ts"
import { numberIn, textIn } from "../form/Typed.ts"
import { formId } from "../FormId.ts"

export type Sequence = Experience["sequences"][number]
export type Audiences = AdminAnswer<"audiences", "listAudiences">["data"]

const everybody = "everybody"

/** What happens to the access code. A code is stored as a hash and never shown. */
const codes = { keep: "keep", set: "set", remove: "remove" } as const

export const sequenceForm = (sequence: Sequence, audiences: Audiences, path: string, sent?: Sent): Html => {
  const { id, name } = sequence
  const form = new Form(sent, `${id}-`)
  const fields = fieldsOf(form, sequence, audiences)
  return html`<section class="card" id="s-${id}">
    <h2>Who may enter: <bdi>${name}</bdi></h2>
    ${form.summary("Nothing was changed. This needs another look:")}
    <form method="post" action="${path}/sequence">
      <input type="hidden" name="sequence" value="${id}" />${formId()}
      <div class="columns">${fields}</div>
      <button>Save</button>
    </form>
  </section>`
}

const fieldsOf = (form: Form, sequence: Sequence, audiences: Audiences): Html => {
  const { name, priority, hasAccessCode, audienceId, orderLimitPerConsumer } = sequence
  const known = audiences.map((one) => [one.id, `Members of ${one.name}`] as const)
  const isKnown = audienceId === null || audiences.some((one) => one.id === audienceId)
  return html`
    ${form.input("name", { label: "Name", value: name })}
    ${form.select("audienceId", {
      label: "Who may enter",
      value: audienceId ?? everybody,
      choices: [
        [everybody, "Everybody"],
        ...known,
        ...(isKnown ? [] : [[audienceId, "Members of another audience"] as const])
      ]
    })}
    ${form.select("code", {
      label: "Access code",
      value: codes.keep,
      choices: hasAccessCode
        ? [
            [codes.keep, "Keep the code"],
            [codes.set, "Another code, typed beside"],
            [codes.remove, "No code any more"]
          ]
        : [
            [codes.keep, "None"],
            [codes.set, "The code typed beside"]
          ]
    })}
    ${form.input("accessCode", {
      label: "New access code",
      isOptional: true,
      autocomplete: "off",
      hint: "At least 6 characters. Who has shown a former code need not show it."
    })}
    ${form.input("orderLimitPerConsumer", {
      label: "Orders per person",
      type: "number",
      min: 1,
      value: orderLimitPerConsumer ?? "",
      isOptional: true,
      hint: "Empty: no limit."
    })}
    ${form.input("priority", {
      label: "Priority",
      type: "number",
      min: -1_000_000,
      max: 1_000_000,
      value: priority,
      hint: "A higher one comes first in the room."
    })}
  `
}

/** The body that changes the sequence of a sent form. */
export const sequenceChangesIn = (fields: URLSearchParams): object => {
  const audience = fields.get("audienceId") ?? everybody
  const code = fields.get("code")
  return {
    name: textIn(fields, "name") ?? "",
    priority: numberIn(fields, "priority"),
    audienceId: audience === everybody ? null : audience,
    orderLimitPerConsumer: numberIn(fields, "orderLimitPerConsumer") ?? null,
    ...(code === codes.remove && { accessCode: null }),
    ...(code === codes.set && { accessCode: textIn(fields, "accessCode") ?? "" })
  }
}
