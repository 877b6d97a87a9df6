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

export const waitlist: RoomKind<Waitlist, State> = {
  name: "waitlist",
  action: "enterWaitlist",
  status: "status",
  rule: (scene) => say(scene, "waitlistRule"),
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
    if (state?.isEntered === true) return [say(scene, "nextNotice"), say(scene, "nextOpen"), say(scene, "nextList")]
    if (record.lifecycle !== "open" && record.lifecycle !== "scheduled") return []
    const address = scene.visitor === "authenticated" ? [] : [say(scene, "nextAddress")]
    return [...address, say(scene, "nextNotice"), say(scene, "nextOpen")]
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

const member = (scene: Scene, { id }: WaitlistRecord, { position }: State): Html =>
  html`${heading(say(scene, "listed"))}
    <p>${say(scene, "waitlistRule")}</p>
    ${position !== null && facts([[say(scene, "position"), html`<span data-text="position">${scene.formats.number(position)}</span>`]])}
    ${wayOut(scene, id, leaveList)}`

const leaveList = { action: "leave", label: "leaveList", effect: "leaveListText" } as const

/** A visitor that has had an offer, or was never on the list. One that let an offer lapse may join again. */
const after = (scene: Scene, waitlist: Waitlist, state: State | undefined): Html => {
  if (state?.status === "COMPLETED") return ended(scene, { title: "completed" })
  if (state?.status !== "EXPIRED") return outside(scene, waitlist)
  return html`${ended(scene, { title: "expired", reason: "reasonExpired" })}${waitlist.record.lifecycle === "open" && outside(scene, waitlist)}`
}

const outside = (scene: Scene, waitlist: Waitlist): Html => {
  const { record } = waitlist
  if (record.lifecycle === "scheduled") return scheduled(scene, record, say(scene, "waitlistRule"))
  if (record.lifecycle !== "open") return closed(scene, record)
  const label = say(scene, scene.opensLater === true ? "remindMe" : "enterWaitlist")
  // A message needs an address, so a visitor without one gives it, and proves it with a code.
  const fields = scene.visitor === "authenticated" ? undefined : emailField(scene)
  return html`${nameHeading(record.name)}
    <p>${say(scene, "waitlistRule")}</p>
    ${barred(scene, waitlist) ?? form(scene, "join", { at: record.id, label, fields, id: `join-${record.id}` })}`
}
