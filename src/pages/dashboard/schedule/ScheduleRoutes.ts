/** The forms of the schedule of a drop. A refused one shows the schedule again, with what was typed and what is wrong. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { declarations } from "../../../domain/mechanism/Mechanism.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { toText } from "../../../domain/values/Time.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { notFound } from "../../Refusal.ts"
import { type Drop, pathOf } from "../drop/Drop.ts"
import type { TabBody, TabFrame } from "../drop/Tab.ts"
import { type Call, type RefusedForm, type Refusing, refusing } from "../form/Refused.ts"
import { instantIn, textIn } from "../form/Typed.ts"
import { asked } from "../Frame.ts"
import type { Sent } from "../form/Form.ts"
import type { Part } from "../newDrop/Parts.ts"
import { get, post, type Reply, type Route } from "../Route.ts"
import { newestStocks } from "../stocks/Sizes.ts"
import { addedIn, addForm, fieldIn, partIn } from "./AddForm.ts"
import { shiftIn } from "./CopyForm.ts"
import { changesIn } from "./MechanismForm.ts"
import { sequenceChangesIn } from "./SequenceForm.ts"
import { sequenceOf, tabPath } from "./Sequences.ts"
import * as Sharing from "./Sharing.ts"
import { termFieldAt } from "./Terms.ts"

type Api = AdminApiClient["Service"]

/** The forms of a schedule. */
export type ScheduleForm = "drop" | "mechanism" | "sequence" | "copy"

type Show = (operator: Operator, drop: Drop, refused?: RefusedForm<ScheduleForm>) => Call<TabBody>

/** A sent form of a drop. */
interface SentForm extends Refusing<ScheduleForm> {
  readonly operator: Operator
  readonly drop: Drop
  readonly fields: URLSearchParams
}

export const makeRoutes = (api: Api, show: Show, { read, write }: TabFrame): ReadonlyArray<Route> => {
  const form = (name: string, run: (sent: SentForm) => Call<Reply>) =>
    post(
      `/experiences/:id${tabPath}/${name}`,
      "operator",
      Effect.fnUntraced(function* (operator, { params, fields }) {
        const drop = yield* read(operator, params["id"]!)
        const again = refusing<ScheduleForm>(fields, (refused) =>
          Effect.map(show(operator, drop, refused), (body) => write(drop, body))
        )
        return yield* run({ operator, drop, fields, ...again })
      })
    )
  return [
    form("mechanism", changeMechanism(api)),
    form("sequence", changeSequence(api)),
    form("drop", changeDrop(api)),
    form("copy", copyDrop(api)),
    form("archive", archiveDrop(api)),
    ...addRoutes(api, { read, write }),
    ...Sharing.make(api, { read, write })
  ]
}

/** The form of a mechanism that is added, which has an address of its own. */
const addRoutes = (api: Api, { read, write }: TabFrame): ReadonlyArray<Route> => {
  const path = `/experiences/:id${tabPath}/add` as const
  const screen = (operator: Operator, drop: Drop, part: Part, sent?: Sent): Call<Reply> =>
    Effect.map(newestStocks(api, operator), (stocks) =>
      write(drop, {
        body: addForm(drop, { path: `${drop.path}${tabPath}`, stocks }, part, sent),
        status: sent?.problems === undefined ? 200 : 400
      })
    )
  return [
    {
      ...get(path, (operator, { params, query }) =>
        Effect.flatMap(read(operator, params["id"]!), (drop) => {
          const part = partIn(query)
          return part === undefined
            ? Effect.succeed<Reply>({ goTo: `${drop.path}${tabPath}` })
            : screen(operator, drop, part)
        })
      ),
      role: "operator"
    },
    post(
      path,
      "operator",
      Effect.fnUntraced(function* (operator, { params, fields }) {
        const drop = yield* read(operator, params["id"]!)
        const part = partIn(fields)
        if (part === undefined) return yield* notFound
        const { problems, settings } = addedIn(part, fields, drop.experience.timeZone, drop.now)
        if (problems.size > 0) return yield* screen(operator, drop, part, { fields, problems })
        const { orShown } = refusing<"add">(fields, (sent) => screen(operator, drop, part, sent))
        const add = Effect.fnUntraced(function* () {
          const sequenceId = yield* sequenceOf(api, operator, drop, fields)
          const payload = { ...settings, sequenceId }
          const { name } = yield* api.run(operator, declarations[part.kind].path, "create", { payload })
          return led(drop, `${isolated(name, "")} was added.`)
        })
        return yield* add().pipe(orShown({ form: "add" }, fieldIn(part)))
      })
    )
  ]
}

const led = ({ path }: Drop, done: string): Reply => ({ goTo: `${path}${tabPath}`, done })

const changeMechanism = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, drop, fields, refuse, orShown }: SentForm) {
    const mechanism = drop.mechanisms.find(({ id }) => id === fields.get("mechanism"))
    if (mechanism === undefined) return yield* notFound
    const { id, name, type } = mechanism
    const { changes, problems } = changesIn(mechanism, fields)
    if (problems.size > 0) return yield* refuse({ form: "mechanism", id, problems })
    if (Object.keys(changes).length === 0) return led(drop, "Nothing was changed.")
    const payload = { ...changes, reason: fields.get("reason") ?? undefined }
    return yield* api
      .run(operator, declarations[type].path, "change", { params: { id }, payload })
      .pipe(Effect.as(led(drop, `${isolated(name, "")} was changed.`)), orShown({ form: "mechanism", id }, termFieldAt))
  })

const changeSequence = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, drop, fields, orShown }: SentForm) {
    const sequence = drop.experience.sequences.find(({ id }) => id === fields.get("sequence"))
    if (sequence === undefined) return yield* notFound
    const { id } = sequence
    const payload = sequenceChangesIn(fields)
    return yield* api.run(operator, "sequences", "changeSequence", { params: { id }, payload }).pipe(
      Effect.map(({ name }) => led(drop, `${isolated(name, "")} was changed.`)),
      orShown({ form: "sequence", id })
    )
  })

const changeDrop = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, drop, fields, refuse, orShown }: SentForm) {
    const { id, timeZone } = drop.experience
    const { changes, problems } = boundsIn(fields, timeZone)
    if (problems.size > 0) return yield* refuse({ form: "drop", problems })
    const payload = { name: textIn(fields, "name") ?? "", timeZone: fields.get("timeZone") ?? "", ...changes }
    return yield* api
      .run(operator, "experiences", "changeExperience", { params: { id }, payload })
      .pipe(Effect.as(led(drop, "The drop was changed.")), orShown({ form: "drop" }))
  })

/** The bounds of a sent form that a person has changed. An empty one removes the bound. */
const boundsIn = (fields: URLSearchParams, timeZone: string) => {
  const problems = new Map<string, string>()
  const changes = ["openAt", "closeAt"].flatMap((setting): ReadonlyArray<readonly [string, string | null]> => {
    if (fields.get(setting) === fields.get(`was.${setting}`)) return []
    const text = textIn(fields, setting)
    if (text === undefined) return [[setting, null]]
    const found = instantIn(text, timeZone)
    if ("at" in found) return [[setting, toText(found.at)]]
    problems.set(setting, found.problem)
    return []
  })
  return { changes: Object.fromEntries(changes), problems }
}

const copyDrop = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, drop, fields, refuse, orShown }: SentForm) {
    const shift = shiftIn(drop, fields)
    if ("problem" in shift) {
      return yield* refuse({ form: "copy", problems: new Map([[shift.field, shift.problem]]) })
    }
    const payload = { name: textIn(fields, "name"), shiftSeconds: shift.seconds }
    const { id, name } = drop.experience
    return yield* api.run(operator, "experiences", "duplicateExperience", { params: { id }, payload }).pipe(
      Effect.map((copy): Reply => ({
        goTo: `${pathOf(copy.id)}${tabPath}`,
        done: `${isolated(copy.name, "")} is a copy of ${isolated(name, "")}. It has no entries yet.`
      })),
      orShown({ form: "copy" }, ([setting]) => (setting === "shiftSeconds" ? shift.field : setting))
    )
  })

const archiveDrop = (api: Api) =>
  Effect.fnUntraced(function* ({ operator, drop, fields }: SentForm) {
    if (!fields.has("confirmed")) return archiving(drop)
    const { id, name } = drop.experience
    yield* api.run(operator, "experiences", "archiveExperience", { params: { id } })
    return {
      goTo: `/dashboard/archive?undo=${id}`,
      done: `${isolated(name, "")} is archived. You can restore it here.`
    }
  })

const archiving = ({ experience, mechanisms, path }: Drop) => {
  const running = mechanisms.filter(({ lifecycle }) => lifecycle === "open" || lifecycle === "scheduled").length
  return asked({
    title: `Archive ${isolated(experience.name, "")}?`,
    says: `${
      running === 0
        ? "Everything in it has closed."
        : `${running === 1 ? "One mechanism ends" : `${running} mechanisms end`} for good, and who waits loses the place.`
    } The drop leaves every list. It can be restored, with its results; what has ended stays ended.`,
    path: `${path}${tabPath}/archive`,
    back: `${path}${tabPath}`,
    button: "Archive",
    isHarmful: true
  })
}
