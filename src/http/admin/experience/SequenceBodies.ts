/**
 * The bodies that create and change sequences, alone or with their experience. The functions here return the settings
 * of a body, or every issue of the body with its path.
 */
import { Result, Schema } from "effect"
import type { RegionalDefaults } from "../../../domain/values/Locale.ts"
import { fieldOf, type Kind, kinds } from "../../../domain/mechanism/Mechanism.ts"
import { Settings } from "../../../domain/experience/Sequence.ts"
import type { SequenceProduct } from "../../../domain/experience/SequenceProduct.ts"
import type { Configured } from "../../../engine/lifecycle/Creation.ts"
import type { NamedProducts } from "../../../store/experience/ExperienceProducts.ts"
import type { ParentContext, NewSequence as NewRow } from "../../../store/experience/SequenceAggregates.ts"
import type { Issue, ValidationError } from "../../../api/Errors.ts"
import { issueAt, issuesMax, issueWithin } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { revising } from "../records/Settings.ts"
import { ChangeSequence, CreateSequence, type CreateSequenceWithin } from "../../../api/admin/SequenceApi.ts"
import { completed, issuesWith, type KindOfMechanism, kindsOfMechanism, variantsIn } from "../mechanism/Kinds.ts"

type Body = typeof CreateSequenceWithin.Type
type ChangeBody = typeof ChangeSequence.Type
type Path = ReadonlyArray<string | number>

/** A sequence that is to be created with its mechanisms. */
export interface NewSequence extends NewRow {
  readonly mechanisms: ReadonlyArray<Pick<Configured, "kind" | "configuration">>
}

/** The context of a sequence that is created. */
export interface Around {
  readonly surroundings: RegionalDefaults
  /** Those of the sequence's products that the tenant has. */
  readonly products: ReadonlySet<string>
  /** Returns the variants that the experience does not offer. */
  readonly notOffered: (variantIds: ReadonlyArray<string>) => ReadonlySet<string>
}

/** A part of a body: the whole body as it was sent, and the path to the part. */
export interface Part {
  readonly input: () => Input
  readonly at: Path
}
type Input = { readonly [name: string]: unknown }

/** The defaults of a sequence's settings. */
const defaults = { priority: 0 }

/** The records of the catalogue that a body names when it creates a sequence. */
export const namedIn = (body: Body): NamedProducts => ({
  productIds: productsNamed(body),
  variantIds: [...new Set(mechanismsOf(body).flatMap(({ kind, said }) => variantsIn(kind, said)))]
})

/** The products that a sequence, or a body that creates or changes one, names. */
export const productsNamed = ({
  sequenceProducts
}: {
  readonly sequenceProducts?: Body["sequenceProducts"] | undefined
}): ReadonlyArray<string> => [...new Set((sequenceProducts ?? []).map(({ productId }) => productId))]

/** The sequence that a part of a body creates, and every issue of the part. */
export const sequenceIn = (
  body: Body,
  { input, at }: Part,
  { surroundings, products, notOffered }: Around
): { readonly sequence: NewSequence; readonly issues: ReadonlyArray<Issue> } => {
  const issues = [...productIssues(body.sequenceProducts ?? [], products, { input, at })]
  const mechanisms = mechanismsOf(body).map(({ kind, path, said }) => {
    const what = kindsOfMechanism[kind] as KindOfMechanism<Kind>
    const configuration = completed(what, {}, said, surroundings)
    for (const issue of issuesWith(what, configuration, notOffered(what.variants?.(configuration) ?? []))) {
      issues.push(issueWithin(issue, input(), [...at, ...path]))
    }
    return { kind, configuration }
  })
  return { sequence: { settings: revised(defaults, body), accessCode: body.accessCode ?? null, mechanisms }, issues }
}

/** The sequence that a body creates in an existing experience. */
export const newSequence = (
  body: typeof CreateSequence.Type,
  { notOffered, ...around }: ParentContext
): Result.Result<NewSequence, ValidationError> => {
  const part = { input: () => encodeCreation(body), at: [] }
  const { sequence, issues } = sequenceIn(body, part, { ...around, notOffered: () => notOffered })
  return issues.length > 0 ? refused(issues) : Result.succeed(sequence)
}

/** The sequence that a body changes another one to. It may keep products that it names already. */
export const changed = (
  before: Settings,
  body: ChangeBody,
  products: ReadonlySet<string>
): Result.Result<Settings, ValidationError> => {
  const known = new Set([...products, ...productsNamed(before)])
  const issues = productIssues(body.sequenceProducts ?? [], known, { input: () => encodeChange(body), at: [] })
  return issues.length > 0 ? refused(issues) : Result.succeed(revised({ ...defaults, ...before }, body))
}

const revised = revising<Settings>(Settings.fields, defaults)

const refused = (issues: ReadonlyArray<Issue>) => Result.fail(invalidInput(issues.slice(0, issuesMax)))

/** An issue for each product that the tenant does not have or that is named twice, and for weights that are all 0. */
const productIssues = (
  weighed: ReadonlyArray<SequenceProduct>,
  known: ReadonlySet<string>,
  { input, at }: Part
): ReadonlyArray<Issue> => {
  const field = [...at, "sequenceProducts"]
  const seen = new Set<string>()
  const issues = weighed.flatMap(({ productId }, index) => {
    const problem = (expected: string) => [
      issueAt(input(), [...field, index, "productId"], { kind: "validation", type: "picklist", expected })
    ]
    if (!known.has(productId)) return problem("a product")
    if (seen.has(productId)) return problem("a product that is not named twice")
    seen.add(productId)
    return []
  })
  const isWeightless = weighed.length > 0 && weighed.every(({ weight }) => weight === 0)
  const expected = "weights that come to more than 0"
  return isWeightless
    ? [...issues, issueAt(input(), field, { kind: "validation", type: "min_value", expected })]
    : issues
}

/** The mechanisms of a sequence, each with its path. */
const mechanismsOf = (sequence: Body) =>
  kinds.flatMap((kind) => {
    const field = fieldOf[kind]
    const said = sequence[field] ?? []
    const at = (path: Path, said: object) => ({ kind, path, said })
    return Array.isArray(said) ? said.map((one, index) => at([field, index], one)) : [at([field], said)]
  })

/** The bodies as they were sent, without unknown fields. */
const encodeCreation = Schema.encodeSync(CreateSequence) as (body: typeof CreateSequence.Type) => Input
const encodeChange: (body: ChangeBody) => Input = Schema.encodeSync(ChangeSequence)
