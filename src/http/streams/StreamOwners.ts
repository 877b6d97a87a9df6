/**
 * The owners of the streams of a process: client addresses, organizations and consumers. None of them may take all
 * streams.
 */
import type { EventStream } from "./EventStream.ts"

/** Streams of one consumer over all mechanisms. One more ends the oldest. */
export const streamsPerConsumer = 20

/** The caller of a stream. */
export interface Owner {
  readonly organizationId: string
  /** The client's address, if the caller has the public key. */
  readonly address?: string
  readonly consumerId?: string
}

/** The most streams of one owner. */
export interface OwnerBounds {
  readonly perAddress: number
  readonly perOrganization: number
}

/** Counts the streams of their owners. It has entries for open streams only. */
export class StreamOwners {
  private readonly bounds: OwnerBounds
  private readonly addresses = new Map<string, number>()
  private readonly organizations = new Map<string, number>()
  private readonly consumers = new Map<string, ReadonlyArray<EventStream>>()

  constructor(bounds: OwnerBounds) {
    this.bounds = bounds
  }

  /** The owner that has as many streams as it may have; undefined if a stream may open. */
  fullOwner({ organizationId, address }: Owner): "address" | "organization" | undefined {
    if (address !== undefined && (this.addresses.get(address) ?? 0) >= this.bounds.perAddress) return "address"
    if ((this.organizations.get(organizationId) ?? 0) >= this.bounds.perOrganization) return "organization"
    return undefined
  }

  /** Counts a stream that has opened. Ends the oldest stream of a consumer that has too many. */
  add({ organizationId, address, consumerId }: Owner, stream: EventStream): void {
    change(this.organizations, organizationId, 1)
    if (address !== undefined) change(this.addresses, address, 1)
    if (consumerId === undefined) return
    const streams = this.consumers.get(consumerId) ?? []
    this.consumers.set(consumerId, [...streams, stream])
    if (streams.length >= streamsPerConsumer) streams[0]!.end("REPLACED")
  }

  /** Forgets a stream that has ended. */
  remove({ organizationId, address, consumerId }: Owner, stream: EventStream): void {
    change(this.organizations, organizationId, -1)
    if (address !== undefined) change(this.addresses, address, -1)
    if (consumerId === undefined) return
    const left = (this.consumers.get(consumerId) ?? []).filter((other) => other !== stream)
    if (left.length === 0) this.consumers.delete(consumerId)
    else this.consumers.set(consumerId, left)
  }
}

function change(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
