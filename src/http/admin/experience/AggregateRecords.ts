/** Experiences and sequences as the Admin API shows them, with their products and mechanisms. */
import { Schema } from "effect"
import { fieldOf, isSingle, type Kind, kinds } from "../../../domain/mechanism/Mechanism.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import type { ExperienceAggregate as Stored } from "../../../store/experience/ExperienceAggregates.ts"
import type { SequenceAggregate as StoredSequence } from "../../../store/experience/SequenceAggregates.ts"
import { type KindOfMechanism, kindsOfMechanism } from "../mechanism/Kinds.ts"
import { mechanismRecord } from "../mechanism/MechanismRecord.ts"
import type { ExperienceAggregate } from "../../../api/admin/ExperienceApi.ts"
import type { SequenceWithMechanisms } from "../../../api/admin/SequenceApi.ts"

type Sequence = typeof SequenceWithMechanisms.Type

/** The experience's record with its products, sequences and mechanisms. */
export const experienceAggregate = ({ experience, products, sequences }: Stored): typeof ExperienceAggregate.Type => ({
  ...experience,
  products,
  sequences: sequences.map(sequenceAggregate)
})

/** The sequence's record with its mechanisms. */
export const sequenceAggregate = ({ sequence, mechanisms }: StoredSequence): Sequence => {
  const byKind = Map.groupBy(mechanisms, ({ identity }) => identity.kind)
  const held = kinds.map((kind) => {
    const records = (byKind.get(kind) ?? []).map((mechanism) => recordOf(mechanism, kind))
    return [fieldOf[kind], isSingle(kind) ? (records[0] ?? null) : records]
  })
  return { ...sequence, ...(Object.fromEntries(held) as Omit<Sequence, keyof typeof sequence>) }
}

/** The configuration of a mechanism, decoded from its record. */
export const configurationOf = ({ configuration }: StoredMechanism, kind: Kind) =>
  Schema.decodeUnknownSync((kindsOfMechanism[kind] as KindOfMechanism<Kind>).Configuration)(configuration)

const recordOf = (mechanism: StoredMechanism, kind: Kind) =>
  mechanismRecord(mechanism, configurationOf(mechanism, kind), mechanism.status, kindsOfMechanism[kind])
