/**
 * Consumers that subscribe to their places in one queue (`/events`) while the node that owns it stops. One is connected
 * to another node and must continue to receive events. Two are connected to the stopping node and reconnect to another
 * node with their last event id. Each must receive every state once and in sequence.
 */
import { Effect } from "effect"
import { type OpenStream, openStream, type StreamEvent } from "../../http/support/eventStream.ts"
import type { Apis, Guest } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import { pause } from "../support/Processes.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

/** The longest time to retry opening a stream while a mechanism moves. */
const patienceMillis = 15_000

/** A consumer and all events that it received. */
class Subscriber {
  readonly guest: Guest
  readonly received: Array<StreamEvent> = []
  private readonly path: string
  private readonly headers: { readonly [name: string]: string }
  private stream: OpenStream | undefined

  constructor(apis: Apis, queueId: string, guest: Guest) {
    this.guest = guest
    this.path = `/api/queues/${queueId}/events`
    this.headers = apis.as(guest)
  }

  /** Opens the stream like a browser after a disconnect, with the id of the last event. */
  async open(server: ServerUnderTest): Promise<void> {
    const last = this.received.at(-1)?.id
    const headers = { ...this.headers, ...(last !== undefined && { "last-event-id": last }) }
    for (const begun = performance.now(); ; await pause(50)) {
      this.stream = await Effect.runPromise(openStream(server.consumerUrl, this.path, headers))
      if (this.stream.status === 200) return
      const { status } = this.stream
      if (status !== 503 || performance.now() - begun > patienceMillis) throw new Error(`a stream returned ${status}`)
    }
  }

  /** Returns once the consumer has received this status. */
  async until(status: string): Promise<void> {
    while (this.received.at(-1)?.data.status !== status) this.received.push(await Effect.runPromise(this.stream!.next))
  }

  /** Waits for the end of the stream. Returns how it ended. */
  async over(): Promise<"ended" | "cut"> {
    const ending = await Effect.runPromise(this.stream!.over)
    this.received.push(...(await Effect.runPromise(this.stream!.arrived)))
    return ending
  }

  async leave(): Promise<void> {
    await Effect.runPromise(this.stream!.leave)
  }

  /** Returns the defects of the received events, in words. */
  problems(what: string): ReadonlyArray<string> {
    const statuses = this.received.map(({ data }) => String(data.status))
    const changes = statuses.filter((status, index) => status !== statuses[index - 1]).join(", ")
    const ids = this.received.map(({ id }) => Number(id))
    return [
      ...(changes === "QUEUED, GRANTED, COMPLETED" ? [] : [`the subscriber that ${what} received ${changes}`]),
      ...(ids.every((id, index) => index === 0 || id >= ids[index - 1]!)
        ? []
        : [`the subscriber that ${what} received the event ids ${ids.join()}`])
    ]
  }
}

export class SubscribedPlaces {
  private readonly apis: Apis
  private readonly queueId: string
  private readonly survivor: ServerUnderTest
  private readonly stays: Subscriber
  private readonly returnsAtOnce: Subscriber
  private readonly returnsLater: Subscriber

  /** Opens the streams of three consumers that wait in the queue. `apis` addresses the other nodes. */
  static async open(
    apis: Apis,
    leaving: ServerUnderTest,
    survivors: ReadonlyArray<ServerUnderTest>,
    queueId: string,
    dice: Dice
  ) {
    const places = new SubscribedPlaces(
      apis,
      dice.pick(survivors),
      queueId,
      await Promise.all([0, 1, 2].map(() => apis.guest()))
    )
    for (const subscriber of places.all) {
      await apis.enter(queueId, subscriber.guest)
      await subscriber.open(subscriber === places.stays ? places.survivor : leaving)
      await subscriber.until("QUEUED")
    }
    return places
  }

  private constructor(apis: Apis, survivor: ServerUnderTest, queueId: string, guests: ReadonlyArray<Guest>) {
    this.apis = apis
    this.queueId = queueId
    this.survivor = survivor
    const [stays, returnsAtOnce, returnsLater] = guests.map((guest) => new Subscriber(apis, queueId, guest))
    this.stays = stays!
    this.returnsAtOnce = returnsAtOnce!
    this.returnsLater = returnsLater!
  }

  private get all(): ReadonlyArray<Subscriber> {
    return [this.stays, this.returnsAtOnce, this.returnsLater]
  }

  /** After the node has stopped: admits and completes all consumers. Returns the defects of the received events. */
  async resume(ending: "ended" | "cut"): Promise<ReadonlyArray<string>> {
    const { stays, returnsAtOnce, returnsLater, survivor } = this
    const problems: Array<string> = []
    for (const subscriber of [returnsAtOnce, returnsLater]) {
      const how = await subscriber.over()
      if (how !== ending) problems.push(`a stream of the stopped node was ${how}`)
    }
    await returnsAtOnce.open(survivor)
    await this.act("admit")
    await pause(300)
    await returnsLater.open(survivor)
    for (const subscriber of this.all) await subscriber.until("GRANTED")
    await this.act("complete")
    for (const subscriber of this.all) await subscriber.until("COMPLETED")
    await Promise.all(this.all.map((subscriber) => subscriber.leave()))
    return [
      ...problems,
      ...stays.problems("stayed connected"),
      ...returnsAtOnce.problems("reconnected immediately"),
      ...returnsLater.problems("reconnected later")
    ]
  }

  private async act(action: "admit" | "complete"): Promise<void> {
    for (const { guest } of this.all) {
      await this.apis.act(this.queueId, action, guest.consumerId)
    }
  }
}
