/**
 * What is special about a kind of mechanism on the Admin API, and what follows from it for the settings of one: the same
 * whether it is created by itself, with its experience, or changed.
 */
import type { Schema } from "effect"
import type { RegionalDefaults } from "../../../domain/values/Locale.ts"
import type { ConfigurationOf } from "../../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import type { Issue } from "../../errors/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { type Problem, problemIssues } from "../records/Answers.ts"
import { withChanges } from "../records/Payloads.ts"

/** What is special about a kind. */
export interface KindOfMechanism<K extends Kind> {
  readonly kind: K
  readonly Configuration: Schema.Codec<ConfigurationOf<K>, unknown>
  /** What can be set: the fields of the configuration, as `schemasOf` gives them. */
  readonly settings: Schema.Struct.Fields
  /** The names of what it publishes (`Decider.published`), which its record shows beside the settings, or null. */
  readonly published?: ReadonlyArray<string>
  /** What holds where an admin says nothing, beside what was said (completions 4); the time zone is filled in already. */
  readonly defaults: (said: Partial<ConfigurationOf<K>>, around: RegionalDefaults) => Partial<ConfigurationOf<K>>
  /** What makes no sense between settings that are each in range. */
  readonly problems: (configuration: ConfigurationOf<K>) => ReadonlyArray<Problem>
  /** The variants it names in its setting `variantIds`, which its experience must offer. */
  readonly variants?: (configuration: Partial<ConfigurationOf<K>>) => ReadonlyArray<string>
  /** Fields of its recorded events that are not shown, given what it has published. */
  readonly secrets?: (published: { readonly [name: string]: unknown }) => ReadonlyArray<string>
}

/** The configuration with the changes made, and with what holds where nothing is said. */
export const completed = <K extends Kind>(
  what: KindOfMechanism<K>,
  configuration: Partial<ConfigurationOf<K>>,
  changes: object,
  around: RegionalDefaults
): ConfigurationOf<K> => {
  const said = withChanges<object>(configuration, changes, what.settings, {}) as Partial<ConfigurationOf<K>>
  // Every required setting is in the payload of a creation, in the defaults, or in what is there already.
  return { timeZone: around.timeZone, ...what.defaults(said, around), ...said } as ConfigurationOf<K>
}

/** What is wrong with a configuration, given which variants its experience does not offer. */
export const issuesWith = <K extends Kind>(
  what: KindOfMechanism<K>,
  configuration: ConfigurationOf<K>,
  notOffered: ReadonlySet<string>
): ReadonlyArray<Issue> => [
  ...problemIssues(what.problems(configuration), configuration),
  ...(what.variants?.(configuration) ?? []).flatMap((id, index, variantIds) =>
    notOffered.has(id) ? [issueAt({ variantIds }, ["variantIds", index], notOfferedHere)] : []
  )
]

const notOfferedHere = { kind: "validation", type: "picklist", expected: "a variant the experience offers" } as const
