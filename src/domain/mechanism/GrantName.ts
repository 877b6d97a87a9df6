/**
 * The name of a grant: the `jti` of its token. It has the mechanism, the sequence of the event that made the grant, and
 * a proof, a keyed digest of both. Who has not seen the token cannot guess the proof. Grants from before names had one
 * have no proof.
 */

/** A grant that a text names. Whether the proof is right is not known yet. */
export interface NamedGrant {
  readonly mechanismId: string
  readonly sequence: number
  /** The whole name. */
  readonly name: string
}

/** Returns the name without its proof. */
export const plainName = (mechanismId: string, sequence: number): string => `${mechanismId}.${sequence}`

/** Returns the grant that a text names; undefined for any other text. */
export const namedGrant = (text: string | undefined): NamedGrant | undefined => {
  const [name, mechanismId, sequence] = namePattern.exec(text ?? "") ?? []
  return name === undefined || mechanismId === undefined ? undefined : { mechanismId, sequence: Number(sequence), name }
}

const namePattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9]\d{0,14})(?:\.[\w-]{22})?$/
