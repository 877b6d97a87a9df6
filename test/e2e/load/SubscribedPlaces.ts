/**
 * Consumers who follow their places in one queue (`/events`) while the node that it lives on goes: one is connected to
 * another node, and must go on being told; two are connected to the very node, and come back to another with what they were
 * told last. Each must be told every standing it comes to, once and in order.
 */
import { Effect } from "effect"
import { type OpenStream, openStream, type Told } from "../../http/support/eventStream.ts"
import type { Apis, Guest } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import { pause } from "../support/Processes.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

/** How long one tries to open a stream while a mechanism is just moving. */
const patienceMillis = 15_000

/** A consumer and all that it was told. */
class Follower {
  readonly guest: Guest
  readonly told: Array<Told> = []
  private readonly path: string
  private readonly headers: { readonly [name: string]: string }
  private stream: OpenStream | undefined

  constructor(apis: Apis, queueId: string, guest: Guest) {
    this.guest = guest
    this.path = `/api/queues/${queueId}/events`
    this.headers = apis.as(guest)
  }

  /** Opens the stream, as a browser would after a cut: with the id of what it was told last. */
  async open(server: ServerUnderTest): Promise<void> {
    const last = this.told.at(-1)?.id
    const headers = { ...this.headers, ...(last !== undefined && { "last-event-id": last }) }
    for (const begun = performance.now(); ; await pause(50)) {
      this.stream = await Effect.runPromise(openStream(server.consumerUrl, this.path, headers))
      if (this.stream.status === 200) return
      const { status } = this.stream
      if (status !== 503 || performance.now() - begun > patienceMillis) throw new Error(`a stream answered ${status}`)
    }
  }

  /** Returns when it has been told that it stands so. */
  async until(status: string): Promise<void> {
    while (this.told.at(-1)?.data.status !== status) this.told.push(await Effect.runPromise(this.stream!.next))
  }

  /** How its stream ended. */
  async over(): Promise<"ended" | "cut"> {
    const ending = await Effect.runPromise(this.stream!.over)
    this.told.push(...(await Effect.runPromise(this.stream!.arrived)))
    return ending
  }

  async leave(): Promise<void> {
    await Effect.runPromise(this.stream!.leave)
  }

  /** What is wrong with what it was told, in words. */
  problems(who: string): ReadonlyArray<string> {
    const statuses = this.told.map(({ data }) => String(data.status))
    const changes = statuses.filter((status, index) => status !== statuses[index - 1]).join(", ")
    const ids = this.told.map(({ id }) => Number(id))
    return [
      ...(changes === "QUEUED, GRANTED, COMPLETED" ? [] : [`${who} was told ${changes}`]),
      ...(ids.every((id, index) => index === 0 || id >= ids[index - 1]!) ? [] : [`${who} was told ${ids.join()}`])
    ]
  }
}

export class FollowedPlaces {
  private readonly apis: Apis
  private readonly queueId: string
  private readonly survivor: ServerUnderTest
  private readonly stays: Follower
  private readonly returnsAtOnce: Follower
  private readonly returnsLater: Follower

  /** Three consumers who wait in the queue, and whose streams are open; `apis` are the other nodes. */
  static async open(
    apis: Apis,
    leaving: ServerUnderTest,
    survivors: ReadonlyArray<ServerUnderTest>,
    queueId: string,
    dice: Dice
  ) {
    const places = new FollowedPlaces(
      apis,
      dice.pick(survivors),
      queueId,
      await Promise.all([0, 1, 2].map(() => apis.guest()))
    )
    for (const follower of places.all) {
      await apis.enter(queueId, follower.guest)
      await follower.open(follower === places.stays ? places.survivor : leaving)
      await follower.until("QUEUED")
    }
    return places
  }

  private constructor(apis: Apis, survivor: ServerUnderTest, queueId: string, guests: ReadonlyArray<Guest>) {
    this.apis = apis
    this.queueId = queueId
    this.survivor = survivor
    const [stays, returnsAtOnce, returnsLater] = guests.map((guest) => new Follower(apis, queueId, guest))
    this.stays = stays!
    this.returnsAtOnce = returnsAtOnce!
    this.returnsLater = returnsLater!
  }

  private get all(): ReadonlyArray<Follower> {
    return [this.stays, this.returnsAtOnce, this.returnsLater]
  }

  /** After the node has gone: admits and completes all; answers what was wrong with what they were told. */
  async goOn(ending: "ended" | "cut"): Promise<ReadonlyArray<string>> {
    const { stays, returnsAtOnce, returnsLater, survivor } = this
    const problems: Array<string> = []
    for (const follower of [returnsAtOnce, returnsLater]) {
      const how = await follower.over()
      if (how !== ending) problems.push(`a stream of the node that went was ${how}`)
    }
    await returnsAtOnce.open(survivor)
    await this.act("admit")
    await pause(300)
    await returnsLater.open(survivor)
    for (const follower of this.all) await follower.until("GRANTED")
    await this.act("complete")
    for (const follower of this.all) await follower.until("COMPLETED")
    await Promise.all(this.all.map((follower) => follower.leave()))
    return [
      ...problems,
      ...stays.problems("who stayed connected"),
      ...returnsAtOnce.problems("who came back at once"),
      ...returnsLater.problems("who came back later")
    ]
  }

  private async act(action: "admit" | "complete"): Promise<void> {
    for (const { guest } of this.all) {
      await this.apis.act(this.queueId, action, guest.consumerId)
    }
  }
}
