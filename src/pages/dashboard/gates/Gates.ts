/** The routes of gates: the list, a new one with its key shown once, one gate, its changes, and its key. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { queueIdsOf } from "../../../domain/gate/Gate.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { html, type Html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Sent } from "../form/Form.ts"
import type { Call } from "../form/Refused.ts"
import { asked, doneNote } from "../Frame.ts"
import { linkButton } from "../Parts.ts"
import { get, post, type Reply, type Route } from "../Route.ts"
import { fieldsOf, formScreen, newFields, problemsIn, settingsIn } from "./GateForm.ts"
import { makeShowAll, path } from "./GateList.ts"
import { makeShow } from "./GateScreen.ts"
import { makeOffered } from "./Queues.ts"
import { arranged } from "./RuleFields.ts"
import { makeTry } from "./Tester.ts"

type Api = AdminApiClient["Service"]

/** The routes. `url` is where consumers, and gates, reach Usher. */
export const make = (api: Api, url: string): ReadonlyArray<Route> => {
  const show = makeShow(api, url)
  const attempt = makeTry(api)
  const id = ({ params }: { readonly params: { readonly [name: string]: string } }) => params["id"]!
  return [
    get("/gates", makeShowAll(api)),
    ...newRoutes(api),
    get("/gates/:id", (operator, sent) => show(operator, id(sent))),
    ...changeRoutes(api),
    post("/gates/:id/test", "operator", (operator, sent) =>
      Effect.flatMap(attempt(operator, id(sent), sent.fields), (tried) => show(operator, id(sent), tried))
    ),
    post("/gates/:id/rotate", "admin", (operator, sent) => rotate(api, operator, id(sent), sent.fields)),
    post("/gates/:id/archive", "admin", (operator, sent) => archive(api, operator, id(sent), sent.fields)),
    post("/gates/:id/restore", "admin", (operator, sent) =>
      Effect.map(api.run(operator, "gates", "restoreGate", { params: { id: id(sent) } }), ({ name }): Reply => ({
        goTo: `${path}/${id(sent)}`,
        done: `${isolated(name, "")} is restored. Its key opens again what it opened.`
      }))
    )
  ]
}

/** A form that is sent: its buttons arrange rules, and what is wrong is shown at its fields. */
const makeSaved =
  (again: (operator: Operator, sent: Sent) => Call<Reply>) =>
  (operator: Operator, fields: URLSearchParams, save: (settings: object) => Call<Reply>): Call<Reply> => {
    const moved = arranged(fields)
    if (moved !== undefined) return again(operator, { fields: moved })
    const { settings, problems } = settingsIn(fields)
    if (problems.size > 0) return again(operator, { fields, problems })
    return Effect.catchTag(save(settings), "Refusal", (refusal) =>
      refusal.status === 400 ? again(operator, { fields, problems: problemsIn(refusal, fields) }) : Effect.fail(refusal)
    )
  }

const newRoutes = (api: Api): ReadonlyArray<Route> => {
  const offered = makeOffered(api)
  const form = (operator: Operator, sent: Sent): Call<Reply> =>
    Effect.map(offered(operator, []), (queues) =>
      formScreen({ title: "New gate", action: path, back: path, button: "Make the gate", queues }, sent)
    )
  const saved = makeSaved(form)
  return [
    { ...get("/gates/new", (operator) => form(operator, { fields: newFields() })), role: "admin" },
    post("/gates", "admin", (operator, { fields }) =>
      saved(operator, fields, (payload) =>
        Effect.map(api.run(operator, "gates", "createGate", { payload }), ({ id, key }): Reply => ({
          title: "Gate made",
          body: keyCard(id, key, "It does something as soon as something in the field uses it."),
          again: { goTo: `${path}/${id}`, done: "This gate was made before. Its key was shown then, and only once." }
        }))
      )
    )
  ]
}

const changeRoutes = (api: Api): ReadonlyArray<Route> => {
  const offered = makeOffered(api)
  const makeForm = (id: string) => (operator: Operator, sent: Sent | undefined) =>
    Effect.gen(function* () {
      const gate = yield* api.run(operator, "gates", "getGate", { params: { id } })
      const queues = yield* offered(operator, queueIdsOf(gate.rules))
      const own = `${path}/${id}`
      return formScreen(
        { title: `Change ${isolated(gate.name, "")}`, action: `${own}/change`, back: own, button: "Save", queues },
        sent ?? { fields: fieldsOf(gate) }
      )
    })
  return [
    {
      ...get("/gates/:id/change", (operator, { params }) => makeForm(params["id"]!)(operator, undefined)),
      role: "admin"
    },
    post("/gates/:id/change", "admin", (operator, { params, fields }) => {
      const id = params["id"]!
      return makeSaved(makeForm(id))(operator, fields, (payload) =>
        Effect.map(api.run(operator, "gates", "changeGate", { params: { id }, payload }), ({ name }): Reply => ({
          goTo: `${path}/${id}`,
          done: `${isolated(name, "")} was changed. Gates in the field know it within ten seconds.`
        }))
      )
    })
  ]
}

const rotate = Effect.fnUntraced(function* (api: Api, operator: Operator, id: string, fields: URLSearchParams) {
  if (!fields.has("confirmed")) {
    const { name, keyDisplay } = yield* api.run(operator, "gates", "getGate", { params: { id } })
    return asked({
      title: `Replace the key of ${isolated(name, "")}?`,
      says: `${keyDisplay} opens nothing any more. ${withoutKey}`,
      path: `${path}/${id}/rotate`,
      back: `${path}/${id}`,
      button: "Replace the key",
      isHarmful: true
    })
  }
  const { key } = yield* api.run(operator, "gates", "rotateGateKey", { params: { id } })
  const reply: Reply = {
    title: "Key replaced",
    body: keyCard(id, key, "The former key opens nothing any more."),
    again: { goTo: `${path}/${id}`, done: "The key was replaced before. The new one was shown then, and only once." }
  }
  return reply
})

/** What becomes of a gate in the field whose key is refused. */
const withoutKey =
  "A gate that still uses it keeps the rules that it has and asks in vain: visitors inside go on, and new ones are " +
  "treated as while Usher is out of reach."

const keyCard = (id: string, key: string, done: string): Html => html`
  <section class="card">
    ${doneNote(done)}
    <p>This is the key of the gate. It is shown once; copy it now to where the gate runs, as a secret.</p>
    <p><code class="secret">${key}</code></p>
    <p class="hint">It opens this gate's rules and the queues that they name, and nothing else.</p>
    <p>${linkButton(`${path}/${id}#lines`, "I have copied it", "primary")}</p>
  </section>
`

const archive = Effect.fnUntraced(function* (api: Api, operator: Operator, id: string, fields: URLSearchParams) {
  if (fields.has("confirmed")) {
    const { name } = yield* api.run(operator, "gates", "archiveGate", { params: { id } })
    const reply: Reply = {
      goTo: `${path}?undo=${id}`,
      done: `${isolated(name, "")} is archived. You can restore it here.`
    }
    return reply
  }
  const { name } = yield* api.run(operator, "gates", "getGate", { params: { id } })
  return asked({
    title: `Archive ${isolated(name, "")}?`,
    says: `Its key opens nothing any more. ${withoutKey} It can be restored, with its key.`,
    path: `${path}/${id}/archive`,
    back: `${path}/${id}`,
    button: "Archive",
    isHarmful: true
  })
})
