/**
 * The differences between kinds of mechanism on the Admin API, and the settings that follow from them. They are the
 * same whether a mechanism is created alone, with its experience, or changed.
 */
import type { Schema } from "effect"
import type { RegionalDefaults } from "../../../domain/values/Locale.ts"
import type { ConfigurationOf } from "../../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import type { Issue } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { type Problem, problemIssues } from "../records/Answers.ts"
import { withChanges } from "../records/Settings.ts"

/** The declaration of a kind for the Admin API. */
export interface KindOfMechanism<K extends Kind> {
  readonly kind: K
  readonly Configuration: Schema.Codec<ConfigurationOf<K>, unknown>
  /** The fields of the configuration that can be set, as `schemasOf` returns them. */
  readonly settings: Schema.Struct.Fields
  /**
   * The names of the facts that the kind publishes (`Decider.publishedFacts`). Its record shows them after the
   * settings, or null.
   */
  readonly published?: ReadonlyArray<string>
  /** The values of settings that an admin leaves out, except the time zone. */
  readonly defaults: (said: Partial<ConfigurationOf<K>>, around: RegionalDefaults) => Partial<ConfigurationOf<K>>
  /** The problems between settings that are each in range. `before` is empty at the creation. */
  readonly problems: (configuration: ConfigurationOf<K>, before: Partial<ConfigurationOf<K>>) => ReadonlyArray<Problem>
  /** The variants in its setting `variantIds`. Its experience must offer them. */
  readonly variants?: (configuration: Partial<ConfigurationOf<K>>) => ReadonlyArray<string>
  /** The fields of its recorded events that are hidden, given the facts it has published. */
  readonly secrets?: (published: { readonly [name: string]: unknown }) => ReadonlyArray<string>
}

/** The configuration with the changes made and the defaults filled in. */
export const completed = <K extends Kind>(
  what: KindOfMechanism<K>,
  configuration: Partial<ConfigurationOf<K>>,
  changes: object,
  around: RegionalDefaults
): ConfigurationOf<K> => {
  const said = withChanges<object>(configuration, changes, what.settings, {}) as Partial<ConfigurationOf<K>>
  // Every required setting is in the body of a creation, in the defaults, or stored already.
  return { timeZone: around.timeZone, ...what.defaults(said, around), ...said } as ConfigurationOf<K>
}

/** The issues of a configuration, given the variants that its experience does not offer, and the one before. */
export const issuesWith = <K extends Kind>(
  what: KindOfMechanism<K>,
  configuration: ConfigurationOf<K>,
  notOffered: ReadonlySet<string>,
  before: Partial<ConfigurationOf<K>> = {}
): ReadonlyArray<Issue> => [
  ...problemIssues(what.problems(configuration, before), configuration),
  ...(what.variants?.(configuration) ?? []).flatMap((id, index, variantIds) =>
    notOffered.has(id) ? [issueAt({ variantIds }, ["variantIds", index], notOfferedHere)] : []
  )
]

const notOfferedHere = { kind: "validation", type: "picklist", expected: "a variant the experience offers" } as const
