/** The operations that mechanisms of all kinds have on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { KindData } from "../../domain/mechanism/Declaration.ts"
import { mechanismSorts } from "../../domain/mechanism/Mechanism.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery, archivedQuery } from "./Lists.ts"
import { changeFields, createFields, recordFields } from "./Payloads.ts"
import { whyBody, whyFields } from "./SteeringApi.ts"
import { stampFields } from "../../domain/values/Record.ts"
import { TimeZone } from "../../domain/values/Locale.ts"
import { Name } from "../../domain/values/Text.ts"
import { Timestamp } from "../../domain/values/Time.ts"

const identityFields = { id: Id, organizationId: Id, experienceId: Id, sequenceId: Id }

export const statusFields = {
  statusOverride: Schema.NullOr(Schema.Literal("ended")),
  statusOverrideAt: Schema.NullOr(Timestamp),
  statusOverrideBy: Schema.NullOr(Schema.String),
  teardownStatus: Schema.NullOr(Schema.Literals(["pending", "completed"]))
}

/**
 * The settings of a mechanism in a request. Text is checked more strictly than in the configuration, which must decode
 * everything ever stored. The window of the experience is left out, because a request does not set it.
 */
export const settingsOf = <F extends Schema.Struct.Fields>({ experienceWindow: _, ...settings }: F) => ({
  ...settings,
  name: Name,
  timeZone: TimeZone
})

/** The fields of a mechanism's record. */
export const mechanismFields = <F extends Schema.Struct.Fields>(settings: F) => ({
  ...identityFields,
  ...recordFields(settings),
  ...statusFields,
  ...stampFields
})

/** The names of a kind, as it declares them. */
interface Names<Path extends string> extends Pick<KindData, "name" | "noun" | "aNoun"> {
  readonly path: Path
}

/** The texts of a kind in the description. */
interface Texts {
  /** Units and defaults, for the operation that creates. */
  readonly creating: string
  /** The settings that cannot be changed, and when. */
  readonly changing: string
  /** The effect of ending on the mechanism's consumers. */
  readonly ending: string
}

interface Words<Path extends string> extends Names<Path>, Texts {}

/**
 * The schemas of a kind: its settings, its record, and the bodies that create it, alone or within a sequence, and
 * change it. `published` has the facts that the kind publishes (`Decider.publishedFacts`). The record shows them after
 * the settings, or null.
 */
export const schemasOf = <
  F extends Schema.Struct.Fields,
  const Required extends Exclude<keyof F, "experienceWindow"> & string,
  Published extends Schema.Struct.Fields = {}
>(
  { name }: Pick<KindData, "name">,
  configurationFields: F & { readonly name: Schema.Constraint; readonly timeZone: Schema.Constraint },
  required: ReadonlyArray<Required>,
  published: Published = {} as Published
) => {
  const settings = settingsOf(configurationFields as F)
  return {
    settings,
    published,
    Record: Schema.Struct({ ...mechanismFields(settings), ...published }).annotate({ identifier: name }),
    Create: Schema.Struct({ sequenceId: Id, ...createFields(settings, ["name", ...required]) }).annotate({
      identifier: `Create${name}`
    }),
    CreateWithin: Schema.Struct(createFields(settings, ["name", ...required])).annotate({
      identifier: `Create${name}Within`
    }),
    Change: Schema.Struct({ ...changeFields(settings, ["name", ...required]), ...whyFields }).annotate({
      identifier: `Change${name}`
    })
  }
}

/** The schemas that the endpoints of a kind use. */
interface Schemas<Record, Create, Change> {
  readonly Record: Record
  readonly Create: Create
  readonly Change: Change
}

/** The group of a kind, with the operations `create`, `list`, `get`, `change`, `archive`, `end` and `unpark`. */
export const mechanismGroup = <
  const Path extends string,
  Record extends Schema.Top,
  Create extends Schema.Top,
  Change extends Schema.Top
>(
  names: Names<Path>,
  texts: Texts,
  schemas: Schemas<Record, Create, Change>
) => {
  const words: Words<Path> = { ...names, ...texts }
  return HttpApiGroup.make(words.path).add(
    ...ofAll(words, schemas),
    ...ofOne(words, schemas),
    ...steeringOf(words, schemas)
  )
}

/** The texts of an operation. */
const texts = (identifier: string, summary: string, description: string) =>
  OpenApi.annotations({ identifier, summary, description })

/** The operations `create` and `list`. */
const ofAll = <const Path extends string, Record extends Schema.Top, Create extends Schema.Top>(
  { path, noun, aNoun, name, creating }: Words<Path>,
  schemas: Pick<Schemas<Record, Create, unknown>, "Record" | "Create">
) => {
  const all = `/${path}` as const
  return [
    HttpApiEndpoint.post("create", all, {
      payload: schemas.Create,
      success: schemas.Record.pipe(HttpApiSchema.status(201)),
      error: NotFound
    }).annotateMerge(texts(`create${name}`, `Create ${aNoun}`, creating)),
    HttpApiEndpoint.get("list", all, {
      query: {
        ...listQuery(mechanismSorts),
        ...searchQuery("the name"),
        ...archivedQuery,
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." })),
        sequenceId: Schema.optionalKey(Id.annotate({ description: "Only those of this sequence." }))
      },
      success: pageOf(schemas.Record).annotate({ identifier: `${name}Page` })
    }).annotateMerge(
      listAnnotations({
        identifier: `list${name}s`,
        summary: `List ${noun}s`,
        description:
          "Lists mechanisms that are not archived, or with `archived=true` only archived ones. In the order of `openAt`, " +
          "those without one come first."
      })
    )
  ] as const
}

/** The operations `get`, `change` and `archive`. */
const ofOne = <const Path extends string, Record extends Schema.Top, Change extends Schema.Top>(
  { path, aNoun, name, changing }: Words<Path>,
  schemas: Pick<Schemas<Record, unknown, Change>, "Record" | "Change">
) => {
  const one = `/${path}/:id` as const
  return [
    HttpApiEndpoint.get("get", one, { params: { id: Id }, success: schemas.Record, error: NotFound }).annotateMerge(
      texts(
        `get${name}`,
        `Get ${aNoun}`,
        "The record, with the times it was given. If its experience has an `openAt` or a `closeAt`, the later opening " +
          "and the earlier closing apply. For a waitlist and a lobby only the closing is bounded, because they come before " +
          "the opening. `GET /distributions/{id}` adds its live state."
      )
    ),
    HttpApiEndpoint.put("change", one, {
      params: { id: Id },
      payload: schemas.Change,
      success: schemas.Record,
      error: [NotFound, Conflict]
    }).annotateMerge(
      texts(
        `change${name}`,
        `Change ${aNoun}`,
        "Send only the fields to change. An absent field keeps its value; null resets an optional one to its default. A " +
          "closed mechanism cannot be changed (409 `CLOSED`). `reason` is recorded with the author, and `note` is kept in " +
          `the audit log. ${changing}`
      )
    ),
    HttpApiEndpoint.delete("archive", one, {
      params: { id: Id },
      success: schemas.Record,
      error: NotFound
    }).annotateMerge(
      texts(
        `archive${name}`,
        `Archive ${aNoun}`,
        "Ends it, if it has not ended, and returns the archived record. Neither API finds it any more; lists show it " +
          "with `archived=true`. Grants made before stay valid until they end, and a server can still validate, complete " +
          "and deny them. It cannot be restored, because a mechanism that has ended never reopens."
      )
    )
  ] as const
}

/** The operations `end` and `unpark`. */
const steeringOf = <const Path extends string, Record extends Schema.Top>(
  { path, aNoun, name, ending }: Words<Path>,
  { Record }: Pick<Schemas<Record, unknown, unknown>, "Record">
) => {
  const one = `/${path}/:id` as const
  const steered = { params: { id: Id }, payload: whyBody, success: Record, error: NotFound }
  return [
    HttpApiEndpoint.post("end", `${one}/end`, steered).annotateMerge(
      texts(
        `end${name}`,
        `End ${aNoun}`,
        `Closes it at once: ${ending} A mechanism that has ended stays as it is. \`reason\` is recorded with the author, ` +
          "and `note` is kept in the audit log."
      )
    ),
    HttpApiEndpoint.post("unpark", `${one}/unpark`, steered).annotateMerge(
      texts(
        `unpark${name}`,
        `Unpark ${aNoun}`,
        "A mechanism that fails five times within a minute is parked: it answers 503 to everything until it is unparked. " +
          "Unparking starts it again from its recorded events, in the process that owns it. If it keeps failing, it is " +
          "parked again within seconds, and `GET /distributions/{id}` shows it. A mechanism that is not parked stays as it " +
          "is. The audit log keeps the author, `reason` and `note`."
      )
    )
  ] as const
}
