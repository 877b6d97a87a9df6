/** A waitlist in a room. */
import { Effect } from "effect"
import type { ConsumerAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import {
  barred,
  closed,
  ended,
  type Grant,
  type LiveFacts,
  sampleGrant,
  scheduled,
  stepsOfTurn,
  turn,
  wayOut
} from "./Parts.ts"
import type { RoomKind } from "./RoomKind.ts"
import { facts, form, heading, nameHeading, say, type Scene } from "../Scene.ts"
import { emailField } from "../signIn/SignInScreens.ts"

type WaitlistRecord = ConsumerAnswer<"waitlists", "get">
type State = ConsumerAnswer<"waitlists", "status">

/** A waitlist with what happens in it now. */
interface Waitlist {
  readonly kind: "waitlist"
  readonly record: WaitlistRecord
  readonly live?: LiveFacts | undefined
}

/** What members get: a message at the opening, or offers. */
const ruleOf = (scene: Scene, { offers }: WaitlistRecord): string =>
  say(scene, offers === true ? "offerRule" : "waitlistRule")

export const waitlist: RoomKind<Waitlist, State> = {
  name: "waitlist",
  action: "enterWaitlist",
  status: "status",
  rule: ruleOf,
  piece: (scene, waitlist, state) => {
    const { record } = waitlist
    const isMember = state?.isEntered === true
    if (state?.admissionGrant !== undefined) {
      return {
        status: "OFFERED",
        html: offer(scene, record, { ...state, admissionGrant: state.admissionGrant }),
        isLive: true
      }
    }
    return {
      status: isMember ? "LISTED" : "NOT_LISTED",
      html: isMember ? member(scene, record, state) : after(scene, waitlist, state),
      isLive: isMember,
      hasFields: !isMember && record.lifecycle === "open" && scene.visitor !== "authenticated"
    }
  },
  steps: (scene, { record }, state) => {
    if (state?.status === "OFFERED") return stepsOfTurn(scene, record)
    if (state?.status === "COMPLETED") return []
    const next = record.offers === true ? [ruleOf(scene, record)] : [say(scene, "nextNotice"), say(scene, "nextOpen")]
    if (state?.isEntered === true) return [...next, say(scene, "nextList")]
    if (record.lifecycle !== "open" && record.lifecycle !== "scheduled") return []
    const address = scene.visitor === "authenticated" ? [] : [say(scene, "nextAddress")]
    return [...address, ...next]
  },
  // The list has no name and no times.
  read: ({ id }, { api, caller, share }) =>
    Effect.map(share(api.run(caller, "waitlists", "get", { params: { waitlistId: id } })), (record) => ({
      kind: "waitlist",
      record
    })),
  samples: (now) => [
    [
      "On the list",
      { waitlistId: "00000000-0000-8000-8000-000000000000", isEntered: true, enteredAt: now, position: 42 }
    ],
    [
      "An offer",
      {
        waitlistId: "00000000-0000-8000-8000-000000000000",
        isEntered: true,
        enteredAt: now,
        position: null,
        status: "OFFERED",
        offeredAt: now,
        ...sampleGrant(now)
      }
    ]
  ],
  leaving: ({ isEntered, status }) => (status === "OFFERED" ? giveUp : isEntered ? leaveList : undefined),
  operations: { join: () => ({ name: "enter" }), leave: () => ({ name: "leave" }) }
}

/** An offer: the deadline, the way on to the shop, and the way to decline. The visitor decides, so the page stays. */
const offer = (scene: Scene, { id }: WaitlistRecord, grant: Grant): Html =>
  turn(scene, say(scene, "granted"), grant, { more: wayOut(scene, id, giveUp), staysHere: true })

const giveUp = { action: "leave", label: "giveUp", effect: "giveUpText" } as const

const member = (scene: Scene, record: WaitlistRecord, { position }: State): Html =>
  html`${heading(say(scene, "listed"))}
    <p>${ruleOf(scene, record)}</p>
    ${position !== null && facts([[say(scene, "position"), html`<span data-text="position">${scene.formats.number(position)}</span>`]])}
    ${wayOut(scene, record.id, leaveList)}`

const leaveList = { action: "leave", label: "leaveList", effect: "leaveListText" } as const

/** A visitor that has had an offer, or was never on the list. One that let an offer lapse may join again. */
const after = (scene: Scene, waitlist: Waitlist, state: State | undefined): Html => {
  if (state?.status === "COMPLETED") return ended(scene, { title: "completed" })
  if (state?.status !== "EXPIRED") return outside(scene, waitlist)
  return html`${ended(scene, { title: "expired", reason: "reasonExpired" })}${waitlist.record.lifecycle === "open" && outside(scene, waitlist)}`
}

const outside = (scene: Scene, waitlist: Waitlist): Html => {
  const { record } = waitlist
  if (record.lifecycle === "scheduled") return scheduled(scene, record, ruleOf(scene, record))
  if (record.lifecycle !== "open") return closed(scene, record)
  const isReminder = scene.opensLater === true && record.offers !== true
  const label = say(scene, isReminder ? "remindMe" : "enterWaitlist")
  // A message needs an address, so a visitor without one gives it, and proves it with a code.
  const fields = scene.visitor === "authenticated" ? undefined : emailField(scene)
  return html`${nameHeading(record.name)}
    <p>${ruleOf(scene, record)}</p>
    ${barred(scene, waitlist) ?? form(scene, "join", { at: record.id, label, fields, id: `join-${record.id}` })}`
}
