/**
 * Caches the identity and configuration of mechanisms on other nodes, so that one request need not query the owner
 * several times. An identity never changes. A configuration is kept for a second. Decisions that depend on either are
 * the owner's.
 *
 * Effect's `Cache` does not fit: one entry holds two values with different lifetimes, each request checks the tenant
 * against the entry, and the lookup must be synchronous to stay off the fiber scheduler.
 */
import { isOf, type ActorKind, type MechanismIdentity, type MechanismRef } from "../../domain/mechanism/Mechanism.ts"

/** Mechanisms in the cache at most. The oldest entry is evicted first. */
const rememberedMax = 10_000

/** How long a cached configuration is valid. */
const configurationMillis = 1_000

interface KnownDefinition {
  readonly identity: MechanismIdentity<ActorKind>
  readonly configuration: unknown
}

interface KnownIdentity extends KnownDefinition {
  configuration: unknown
  /** In milliseconds of the monotonic clock, like `now` below. */
  configurationUntil: number
}

export class IdentityCache {
  private readonly known = new Map<string, KnownIdentity>()

  /** Returns the cached identity if the mechanism exists for this caller. */
  identity(mechanism: MechanismRef<ActorKind>): MechanismIdentity<ActorKind> | undefined {
    return this.find(mechanism)?.identity
  }

  /** Returns the identity and the configuration, if these were cached less than a second ago. */
  definition(mechanism: MechanismRef<ActorKind>, now: number): KnownDefinition | undefined {
    const found = this.find(mechanism)
    return found !== undefined && now < found.configurationUntil ? found : undefined
  }

  noteIdentity(identity: MechanismIdentity<ActorKind>): void {
    if (this.known.has(identity.id)) return
    this.known.set(identity.id, { identity, configuration: undefined, configurationUntil: -Infinity })
    if (this.known.size <= rememberedMax) return
    for (const oldest of this.known.keys()) {
      this.known.delete(oldest)
      return
    }
  }

  /** Caches a definition. */
  noteDefinition({ identity, configuration }: KnownDefinition, now: number): void {
    this.noteIdentity(identity)
    const found = this.known.get(identity.id)
    if (found === undefined) return
    found.configuration = configuration
    found.configurationUntil = now + configurationMillis
  }

  private find(mechanism: MechanismRef<ActorKind>): KnownIdentity | undefined {
    const found = this.known.get(mechanism.id)
    return found !== undefined && isOf(found.identity, mechanism) ? found : undefined
  }
}
