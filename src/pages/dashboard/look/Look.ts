/**
 * The look of a drop: a form beside the real room in a frame. The frame shows each state of the room, with what is saved
 * or, before it is saved, with what is typed.
 */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { Theme } from "../../../domain/experience/Experience.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { html, type Html } from "../../Html.ts"
import { defaultLanguage, type Language, languages, supportedLanguage } from "../../Words.ts"
import type { Drop, Experience } from "../drop/Drop.ts"
import type { Tab, TabBody, TabFrame, TabNeeds } from "../drop/Tab.ts"
import { Form } from "../form/Form.ts"
import { type RefusedForm, refusing } from "../form/Refused.ts"
import { makeUpload } from "../form/Upload.ts"
import { formId } from "../FormId.ts"
import { get, postFiles, type Reply, type Route, type RouteRequest } from "../Route.ts"
import { fontNames, lookFields, lookIn, pictureFields } from "./LookForm.ts"
import { noRoom, statesOf } from "./RoomPreview.ts"

const tabPath = "/look"
const framePath = "/room"
const frameName = "room"
const formName = "look"

type Refused = RefusedForm<"look">

export const make = (needs: TabNeeds): Tab => {
  const show = makeShow(needs)
  return {
    path: tabPath,
    title: "Look",
    show: (operator, drop, { query }) => show(operator, drop, query),
    routes: (frame) => makeRoutes(needs, show, frame)
  }
}

/** What the frame shows: a state of a mechanism, in a language. */
interface Shown {
  readonly at: string | undefined
  readonly state: string | undefined
  readonly language: Language
}

const shownIn = (query: URLSearchParams): Shown => ({
  at: query.get("at") ?? undefined,
  state: query.get("state") ?? undefined,
  language: supportedLanguage(query.get("lang") ?? "") ?? defaultLanguage
})

const queryOf = ({ at, state, language }: Shown): string => {
  const query = new URLSearchParams({ ...(at !== undefined && { at }), ...(state !== undefined && { state }) })
  if (language !== defaultLanguage) query.set("lang", language)
  return query.size === 0 ? "" : `?${query}`
}

const makeShow = ({ api }: TabNeeds) =>
  Effect.fnUntraced(function* (operator: Operator, drop: Drop, query: URLSearchParams, refused?: Refused) {
    const { theme } = yield* api.run(operator, "organizations", "getOrganization", {})
    const shown = shownIn(query)
    const path = `${drop.path}${tabPath}`
    const mayChange = mayDo(operator.role, "operator")
    const body: TabBody = {
      status: refused === undefined ? 200 : 400,
      framesPreview: true,
      body: html`<div class="look">
        ${mayChange && formOf(drop, theme ?? {}, shown, refused)}
        <section aria-label="Preview">
          ${leaves(drop, path, shown, mayChange)}
          <iframe
            name="${frameName}"
            class="preview"
            title="The room"
            src="${path}${framePath}${queryOf(shown)}"
          ></iframe>
        </section>
      </div>`
    }
    return body
  })

const formOf = (drop: Drop, inherited: typeof Theme.Type, shown: Shown, refused: Refused | undefined): Html => {
  const form = new Form(refused)
  const fields = lookFields(form, drop, inherited, refused?.fields)
  const path = `${drop.path}${tabPath}`
  return html`<div>
    ${form.summary("Nothing was changed. This needs another look:")}
    <form id="${formName}" method="post" action="${path}${queryOf(shown)}" enctype="multipart/form-data">
      ${formId()}
      <button class="unseen" tabindex="-1" aria-hidden="true">Save</button>
      ${fields}
      <button>Save</button>
      <button class="quiet" formaction="${path}${framePath}${queryOf(shown)}" formtarget="${frameName}">
        Show it in the room first
      </button>
      <p class="hint">The room shows a new file once it is saved.</p>
    </form>
  </div>`
}

/**
 * The ways to the states of each mechanism, and to the languages. Beside a form they are its buttons, so that the frame
 * shows what is typed, and nothing typed is lost.
 */
const leaves = ({ mechanisms }: Drop, path: string, shown: Shown, hasForm: boolean): Html => {
  const way = (to: Shown, title: string, isShown: boolean) =>
    hasForm
      ? html`<button
          form="${formName}"
          class="quiet"
          formaction="${path}${framePath}${queryOf(to)}"
          formtarget="${frameName}"
          formnovalidate
        >
          ${title}
        </button> `
      : html`<a href="${path}${queryOf(to)}" ${isShown && html`aria-current="true"`}>${title}</a> `
  const isNow = !mechanisms.some(({ id }) => id === shown.at)
  return html`<nav class="leaves" aria-label="States">
      <p>${way({ ...shown, at: undefined, state: undefined }, "As it is now", isNow)}</p>
      ${mechanisms.map(
        ({ id, type, name }) =>
          html`<p>
            <small dir="auto">${name}</small>
            ${statesOf(type).map(([state, title]) => way({ ...shown, at: id, state }, title, shown.at === id && shown.state === state))}
          </p>`
      )}
    </nav>
    <details class="leaves">
      <summary>Languages</summary>
      ${(Object.entries(languages) as ReadonlyArray<[Language, string]>).map(([language, name]) => way({ ...shown, language }, name, language === shown.language))}
    </details>`
}

const makeRoutes = (
  needs: TabNeeds,
  show: ReturnType<typeof makeShow>,
  { read, write }: TabFrame
): ReadonlyArray<Route> => {
  const path = `/experiences/:id${tabPath}` as const
  const save = makeSave(needs)
  const framed = makeFramed(needs)
  const find = (operator: Operator, id: string) =>
    needs.api.run(operator, "experiences", "getExperience", { params: { id } })
  return [
    get(
      `${path}${framePath}`,
      Effect.fnUntraced(function* (operator, { params, query }) {
        const experience = yield* find(operator, params["id"]!)
        return yield* framed(operator, experience, shownIn(query), experience)
      })
    ),
    postFiles(
      `${path}${framePath}`,
      "operator",
      Effect.fnUntraced(function* (operator, { params, query, fields }) {
        const drop = yield* read(operator, params["id"]!)
        return yield* framed(operator, drop.experience, shownIn(query), lookIn(fields, drop))
      })
    ),
    postFiles(
      path,
      "operator",
      Effect.fnUntraced(function* (operator, sent) {
        const drop = yield* read(operator, sent.params["id"]!)
        const again = refusing<"look">(sent.fields, (refused) =>
          Effect.map(show(operator, drop, sent.query, refused), (body) => write(drop, body))
        )
        return yield* save(operator, drop, sent, again)
      })
    )
  ]
}

/** Makes the function that answers with the room, for the frame. The room itself may show a former look for a second. */
const makeFramed = ({ api, roomPreview }: TabNeeds) =>
  Effect.fnUntraced(function* (
    operator: Operator,
    { id }: Experience,
    shown: Shown,
    { theme, i18n }: Pick<Experience, "theme" | "i18n">
  ) {
    const organization = yield* api.run(operator, "organizations", "getOrganization", {})
    const look = { theme: { ...organization.theme, ...theme }, i18n }
    const page = yield* roomPreview(operator, { ...shown, experienceId: id, look })
    const reply: Reply =
      page === undefined ? { preview: noRoom.text, styles: [] } : { preview: page.text, styles: page.styles }
    return reply
  })

const makeSave = ({ api }: TabNeeds) => {
  const upload = makeUpload(api)
  const uploadFonts = makeUpload(api, "font")
  return Effect.fnUntraced(function* (
    operator: Operator,
    drop: Drop,
    sent: RouteRequest,
    { refuse, orShown }: ReturnType<typeof refusing<"look">>
  ) {
    const { fields, query } = sent
    const refused = yield* upload(operator, sent, pictureFields)
    for (const [name, problem] of yield* uploadFonts(operator, sent, fontNames)) refused.set(name, problem)
    const { theme, i18n, problems: found } = lookIn(fields, drop)
    const problems = new Map([...refused, ...found])
    if (problems.size > 0) return yield* refuse({ form: "look", problems })
    const payload = { theme: Object.keys(theme).length === 0 ? null : theme, i18n }
    const { id } = drop.experience
    return yield* api.run(operator, "experiences", "changeExperience", { params: { id }, payload }).pipe(
      Effect.as<Reply>({ goTo: `${drop.path}${tabPath}${queryOf(shownIn(query))}`, done: "The look was saved." }),
      orShown({ form: "look" }, (at) => (at[0] === "i18n" ? `text.${at.slice(1).join(".")}` : at.at(-1)))
    )
  })
}
