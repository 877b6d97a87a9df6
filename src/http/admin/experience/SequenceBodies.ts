/**
 * What the bodies that create and change sequences come to, the same whether one is created by itself or with its
 * experience: all that is wrong with one, each by its path, or what is to be made of it.
 */
import { Result, Schema } from "effect"
import type { RegionalDefaults } from "../../../domain/values/Locale.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { Settings } from "../../../domain/experience/Sequence.ts"
import type { SequenceProduct } from "../../../domain/experience/SequenceProduct.ts"
import type { Configured } from "../../../engine/lifecycle/Creation.ts"
import type { NamedProducts } from "../../../store/experience/ExperienceProducts.ts"
import type { Above, NewSequence as NewRow } from "../../../store/experience/SequenceAggregates.ts"
import type { Issue, ValidationError } from "../../errors/Errors.ts"
import { issueAt, issuesMax, issueWithin } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { completed, issuesWith, type KindOfMechanism } from "../mechanism/KindOfMechanism.ts"
import { kinds } from "../mechanism/Kinds.ts"
import { withChanges } from "../records/Payloads.ts"
import { ChangeSequence } from "./SequenceApi.ts"
import { CreateSequence, type CreateSequenceWithin, kindOfField, type MechanismField } from "./SequenceAggregateApi.ts"

type Body = typeof CreateSequenceWithin.Type
type ChangeBody = typeof ChangeSequence.Type
type Path = ReadonlyArray<string | number>

/** A sequence that is to come into being with its mechanisms. */
export interface NewSequence extends NewRow {
  readonly mechanisms: ReadonlyArray<Pick<Configured, "kind" | "configuration">>
}

/** What there is where a sequence comes into being. */
export interface Around {
  readonly surroundings: RegionalDefaults
  /** The products that the tenant has, of those that the sequence names. */
  readonly products: ReadonlySet<string>
  /** Those of the variants that its experience does not offer. */
  readonly notOffered: (variantIds: ReadonlyArray<string>) => ReadonlySet<string>
}

/** A part of a body: the whole as it was sent, and the path that leads to the part. */
export interface Part {
  readonly input: () => Input
  readonly at: Path
}
type Input = { readonly [name: string]: unknown }

/** What holds where a sequence's settings are not said. */
const defaults = { priority: 0 }

/** What of the catalogue a body that creates a sequence names. */
export const namedIn = ({ sequenceProducts, timedReleases }: Body): NamedProducts => ({
  productIds: productsNamed({ sequenceProducts }),
  variantIds: [...new Set((timedReleases ?? []).flatMap(({ variantIds }) => variantIds ?? []))]
})

/** The products that a sequence, or a body that creates or changes one, names. */
export const productsNamed = ({
  sequenceProducts
}: {
  readonly sequenceProducts?: Body["sequenceProducts"] | undefined
}): ReadonlyArray<string> => [...new Set((sequenceProducts ?? []).map(({ productId }) => productId))]

/** What is to be made of a part of a body, and all that is wrong with it. */
export const sequenceIn = (
  body: Body,
  { input, at }: Part,
  { surroundings, products, notOffered }: Around
): { readonly sequence: NewSequence; readonly issues: ReadonlyArray<Issue> } => {
  const issues = [...productIssues(body.sequenceProducts ?? [], products, { input, at })]
  const mechanisms = mechanismsOf(body).map(({ kind, path, said }) => {
    const what = kinds[kind] as KindOfMechanism<Kind>
    const configuration = completed(what, {}, said, surroundings)
    for (const issue of issuesWith(what, configuration, notOffered(what.variants?.(configuration) ?? []))) {
      issues.push(issueWithin(issue, input(), [...at, ...path]))
    }
    return { kind, configuration }
  })
  return { sequence: { settings: revised({}, body), accessCode: body.accessCode ?? null, mechanisms }, issues }
}

/** What is to be made of a body that creates a sequence by itself. */
export const newSequence = (
  body: typeof CreateSequence.Type,
  { notOffered, ...around }: Above
): Result.Result<NewSequence, ValidationError> => {
  const part = { input: () => encodeCreation(body), at: [] }
  const { sequence, issues } = sequenceIn(body, part, { ...around, notOffered: () => notOffered })
  return issues.length > 0 ? refused(issues) : Result.succeed(sequence)
}

/** What a sequence is changed to by a body; products that it weighs already it may go on weighing. */
export const changed = (
  before: Settings,
  body: ChangeBody,
  products: ReadonlySet<string>
): Result.Result<Settings, ValidationError> => {
  const known = new Set([...products, ...productsNamed(before)])
  const issues = productIssues(body.sequenceProducts ?? [], known, { input: () => encodeChange(body), at: [] })
  return issues.length > 0 ? refused(issues) : Result.succeed(revised(before, body))
}

/** The settings with the changes made. */
const revised = (settings: Partial<Settings>, changes: Body | ChangeBody): Settings =>
  // Every required setting is in the payload of a creation, in the defaults, or in what is there already.
  withChanges<Settings>({ ...defaults, ...settings }, changes, Settings.fields, defaults) as Settings

const refused = (issues: ReadonlyArray<Issue>) => Result.fail(invalidInput(issues.slice(0, issuesMax)))

/** What is weighed that the tenant does not have, or twice, or in such a way that nothing can be picked. */
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

/** The mechanisms of a sequence, each with the path that leads to it. */
const mechanismsOf = (sequence: Body) =>
  Object.entries(kindOfField).flatMap(([field, kind]) => {
    const said = sequence[field as MechanismField] ?? []
    const at = (path: Path, said: object) => ({ kind, path, said })
    return Array.isArray(said) ? said.map((one, index) => at([field, index], one)) : [at([field], said)]
  })

/** The bodies as they were sent, but for fields that nobody knows. */
const encodeCreation = Schema.encodeSync(CreateSequence) as (body: typeof CreateSequence.Type) => Input
const encodeChange: (body: ChangeBody) => Input = Schema.encodeSync(ChangeSequence)
