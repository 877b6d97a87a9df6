/**
 * What a node remembers of mechanisms that live elsewhere, so that a request need not ask their owners several times: who
 * they are, which never changes, and what an admin has set, for a moment. Whatever depends on either being there still is
 * decided by the owner.
 */
import type { Kind, MechanismIdentity } from "../../domain/mechanism/Decider.ts"
import { sameTenant } from "../../domain/values/Ids.ts"
import type { MechanismRef } from "../../domain/mechanism/Mechanism.ts"

/** Mechanisms that are remembered; of more, those known longest are asked about again. */
const rememberedMax = 10_000

/** For so long what an admin has set is taken to be so. */
const configurationMillis = 1_000

interface KnownDefinition {
  readonly identity: MechanismIdentity
  readonly configuration: unknown
}

interface KnownIdentity extends KnownDefinition {
  configuration: unknown
  /** Milliseconds of the monotonic clock, as `now` is below. */
  configurationUntil: number
}

export class IdentityCache {
  private readonly known = new Map<string, KnownIdentity>()

  /** Who the mechanism is, if it exists for this caller as far as is known. */
  identity(mechanism: MechanismRef<Kind>): MechanismIdentity | undefined {
    return this.of(mechanism)?.identity
  }

  /** The identity, and what was set a moment ago. */
  definition(mechanism: MechanismRef<Kind>, now: number): KnownDefinition | undefined {
    const found = this.of(mechanism)
    return found !== undefined && now < found.configurationUntil ? found : undefined
  }

  noteIdentity(identity: MechanismIdentity): void {
    if (this.known.has(identity.id)) return
    this.known.set(identity.id, { identity, configuration: undefined, configurationUntil: -Infinity })
    if (this.known.size <= rememberedMax) return
    for (const oldest of this.known.keys()) {
      this.known.delete(oldest)
      return
    }
  }

  /** Notes the identity and what an admin has set. */
  noteDefinition({ identity, configuration }: KnownDefinition, now: number): void {
    this.noteIdentity(identity)
    const found = this.known.get(identity.id)
    if (found === undefined) return
    found.configuration = configuration
    found.configurationUntil = now + configurationMillis
  }

  private of({ id, kind, tenant }: MechanismRef<Kind>): KnownIdentity | undefined {
    const found = this.known.get(id)
    return found?.identity.kind === kind && sameTenant(tenant, found.identity) ? found : undefined
  }
}
