/**
 * What the bodies that create and change experiences come to: all that is wrong with one, each by its path, or what is to
 * be made of it.
 */
import { Result, Schema } from "effect"
import { isWindowEmpty, Settings } from "../../domain/Experience.ts"
import { type Offer, offersOf } from "../../domain/ExperienceProduct.ts"
import type { Surroundings } from "../../domain/Locale.ts"
import type { LiveKind } from "../../domain/Mechanism.ts"
import { Settings as SequenceSettings } from "../../domain/Sequence.ts"
import type { Configured } from "../../engine/Creation.ts"
import { type Known as KnownProducts, type Named as NamedProducts, notOffered } from "../../store/ExperienceProducts.ts"
import type { Change, Known, Named, NewExperience } from "../../store/WholeExperiences.ts"
import type { Issue, ValidationError } from "../Errors.ts"
import { issueAt, issuesMax, issueWithin } from "../Issues.ts"
import { invalidInput } from "../Validation.ts"
import { problemIssues } from "./Answers.ts"
import { ChangeExperience } from "./ExperienceApi.ts"
import { completed, issuesWith, type KindOfMechanism } from "./KindOfMechanism.ts"
import { kinds } from "./Kinds.ts"
import { withChanges } from "./Payloads.ts"
import { CreateExperience, type CreateSequenceWithin, kindOfField, type MechanismField } from "./WholeExperienceApi.ts"

type CreateBody = typeof CreateExperience.Type
type ChangeBody = typeof ChangeExperience.Type
type SequenceBody = typeof CreateSequenceWithin.Type
type Path = ReadonlyArray<string | number>

/** A mechanism that is to come into being in the sequence of that number. */
export type NewMechanism = Pick<Configured, "kind" | "configuration"> & { readonly sequence: number }

/** An experience that is to come into being with everything below it. */
export interface NewWhole extends NewExperience {
  readonly mechanisms: ReadonlyArray<NewMechanism>
}

/** What holds where a sequence's settings are not said. */
export const sequenceDefaults = { priority: 0 }

/** What a body that creates an experience names. */
export const namedIn = (body: CreateBody): Named => {
  const sequences = body.sequences ?? []
  const releases = sequences.flatMap(({ timedReleases }) => timedReleases ?? [])
  const { productIds, variantIds } = namedProducts(body)
  return {
    productIds,
    variantIds: [...new Set([...variantIds, ...releases.flatMap(({ variantIds }) => variantIds ?? [])])],
    audienceIds: [...new Set(sequences.flatMap(({ audienceId }) => audienceId ?? []))]
  }
}

/** What a body names of the catalogue as the experience's products. */
export const namedProducts = ({ products }: Pick<CreateBody, "products">): NamedProducts => ({
  productIds: [...new Set((products ?? []).map(({ productId }) => productId))],
  variantIds: [...new Set((products ?? []).flatMap(({ productVariantId }) => productVariantId ?? []))]
})

/** What is to be made of a body that creates an experience, given what there is of what it names. */
export const newWhole = (
  body: CreateBody,
  defaults: Surroundings,
  known: Known
): Result.Result<NewWhole, ValidationError> => {
  const { settings, issues } = revised(defaults, body, defaults)
  const input = () => encodeCreation(body)
  const offers = offersOf(body.products ?? [])
  issues.push(...productIssues(offers, known, input))
  const mechanisms: Array<NewMechanism> = []
  const sequences = (body.sequences ?? []).map((sequence, index) => {
    const at = ["sequences", index]
    if (typeof sequence.audienceId === "string" && !known.audiences.has(sequence.audienceId)) {
      issues.push(issueAt(input(), [...at, "audienceId"], { ...unknown, expected: "an audience" }))
    }
    for (const { kind, path, said } of mechanismsOf(sequence)) {
      const what = kinds[kind] as KindOfMechanism<LiveKind>
      const configuration = completed(what, {}, said, settings)
      const variantIds = what.variants?.(configuration) ?? []
      // Where nothing is offered by name, anything may be selected.
      const elsewhere = offers.length === 0 ? new Set<string>() : notOffered(offers, variantIds, known.variants)
      for (const issue of issuesWith(what, configuration, elsewhere)) {
        issues.push(issueWithin(issue, input(), [...at, ...path]))
      }
      mechanisms.push({ kind, configuration, sequence: index })
    }
    return { settings: sequenceSettings(sequence), accessCode: sequence.accessCode ?? null }
  })
  return issues.length > 0
    ? Result.fail(invalidInput(issues.slice(0, issuesMax)))
    : Result.succeed({ settings, accessCode: body.accessCode ?? null, offers, sequences, mechanisms })
}

/** What an experience is changed to by a body. */
export const changed = (
  before: Settings,
  body: ChangeBody,
  defaults: Surroundings,
  known: KnownProducts
): Result.Result<Change, ValidationError> => {
  const { settings, issues } = revised(before, body, defaults)
  const offers = body.products === undefined ? undefined : offersOf(body.products ?? [])
  issues.push(...productIssues(offers ?? [], known, () => encodeChange(body)))
  return issues.length > 0
    ? Result.fail(invalidInput(issues.slice(0, issuesMax)))
    : Result.succeed({ settings, offers })
}

/** The settings with the changes made, and what makes no sense in them. */
const revised = (settings: Partial<Settings>, changes: CreateBody | ChangeBody, defaults: Surroundings) => {
  // Every required setting is in the payload of a creation, in the defaults, or in what is there already.
  const next = withChanges<Settings>(settings, changes, Settings.fields, defaults) as Settings
  const problems = isWindowEmpty(next) ? [{ field: "closeAt", message: "closeAt must be after openAt" }] : []
  return { settings: next, issues: [...problemIssues(problems, next)] }
}

const sequenceSettings = (body: SequenceBody): SequenceSettings =>
  withChanges<SequenceSettings>(sequenceDefaults, body, SequenceSettings.fields, sequenceDefaults) as SequenceSettings

const unknown = { kind: "validation", type: "picklist" } as const

/** What is offered that the tenant does not have, or twice. */
const productIssues = (
  offers: ReadonlyArray<Offer>,
  known: KnownProducts,
  input: () => Input
): ReadonlyArray<Issue> => {
  const seen = new Set<string>()
  return offers.flatMap(({ productId, productVariantId }, index) => {
    const problem = (field: string, expected: string) => [
      issueAt(input(), ["products", index, field], { ...unknown, expected })
    ]
    if (!known.products.has(productId)) return problem("productId", "a product")
    if (productVariantId !== null && known.variants.get(productVariantId) !== productId) {
      return problem("productVariantId", "a variant of the product")
    }
    const offer = `${productId} ${productVariantId}`
    if (seen.has(offer)) return problem("productId", "a product that is not named twice")
    seen.add(offer)
    return []
  })
}

/** The mechanisms of a sequence, each with the path that leads to it. */
const mechanismsOf = (sequence: SequenceBody) =>
  Object.entries(kindOfField).flatMap(([field, kind]) => {
    const said = sequence[field as MechanismField] ?? []
    const at = (path: Path, said: object) => ({ kind, path, said })
    return Array.isArray(said) ? said.map((one, index) => at([field, index], one)) : [at([field], said)]
  })

type Input = { readonly [name: string]: unknown }

/** The bodies as they were sent, but for fields that nobody knows. */
const encodeCreation = Schema.encodeSync(CreateExperience) as (body: CreateBody) => Input
const encodeChange: (body: ChangeBody) => Input = Schema.encodeSync(ChangeExperience)
