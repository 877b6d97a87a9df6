/**
 * The kinds of mechanism on the Admin API, and the settings that follow from what they declare. They are the same whether
 * a mechanism is created alone, with its experience, or changed.
 */
import type { Schema } from "effect"
import type { KindDeclaration } from "../../../domain/mechanism/Declaration.ts"
import { byKind, type ConfigurationOf, declarations, deciders, type Kind } from "../../../domain/mechanism/Mechanism.ts"
import type { RegionalDefaults } from "../../../domain/values/Locale.ts"
import type { Issue } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { problemIssues } from "../records/Answers.ts"
import { withChanges } from "../records/Settings.ts"
import { kindSchemas } from "../../../api/admin/KindsApi.ts"

/** A kind with its schemas. */
export interface KindOfMechanism<K extends Kind> extends KindDeclaration<ConfigurationOf<K>> {
  readonly kind: K
  readonly Configuration: Schema.Codec<ConfigurationOf<K>, unknown>
  /** The fields of the configuration that can be set. */
  readonly settings: Schema.Struct.Fields
  /** The names of the facts that the kind publishes. */
  readonly published: ReadonlyArray<string>
}

/** The record of a mechanism of the kind. */
export type RecordOf<K extends Kind> = (typeof kindSchemas)[K]["Record"]["Type"]

export const kindsOfMechanism = byKind((kind) => ({
  ...declarations[kind],
  kind,
  Configuration: deciders[kind].configuration,
  settings: kindSchemas[kind].settings,
  published: Object.keys(kindSchemas[kind].published)
})) as { readonly [K in Kind]: unknown } as { readonly [K in Kind]: KindOfMechanism<K> }

/** The variants that a body of a creation names. */
export const variantsIn = (kind: Kind, said: object): ReadonlyArray<string> => {
  const { settings, variants }: KindOfMechanism<Kind> = kindsOfMechanism[kind]
  return variants?.(withChanges<object>({}, said, settings, {})) ?? []
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
