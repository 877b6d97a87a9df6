/** The shared parts of several kinds of mechanism: before the opening, a turn, and after the end. */
import { html, type Html, type Inserted } from "../../Html.ts"
import type { PlainKey } from "../../Words.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { calendarAddress } from "./CalendarFile.ts"
import { grantNameIn } from "../../../auth/tokens/Grants.ts"
import { type Millis, toText } from "../../../domain/values/Time.ts"
import { reminderLeadMinutes } from "../../../domain/message/Alert.ts"
import {
  assured,
  countdown,
  form,
  heading,
  hidden,
  instant,
  nameHeading,
  phrase,
  say,
  type Scene,
  turning
} from "../Scene.ts"

/** The public fields that every kind has. */
export interface Record {
  readonly id: string
  readonly sequenceId: string
  readonly name: string
  readonly openAt: Millis | null
  readonly closeAt: Millis | null
  readonly lifecycle: "scheduled" | "open" | "settling" | "closed"
  readonly supportsGuest: boolean
}

/** The public live state of a mechanism. */
export interface LiveFacts {
  readonly waiting?: number | null
  readonly entries?: number | null
  readonly isFull?: boolean | null
  readonly unitsLeft?: number | null
  readonly admitRate?: number | null
  readonly paused?: boolean | null
  readonly soldOut?: { readonly mayReturn: boolean } | null
}

/** A mechanism with what happens in it now. */
export interface MechanismWithFacts {
  readonly kind: string
  readonly record: Record
  readonly live?: LiveFacts | undefined
}

/** A mechanism on a page. */
export interface Piece {
  /** The visitor's status, which a script compares. */
  readonly status: string
  readonly html: Html
  /** True if the visitor has a place whose changes the page follows. */
  readonly isLive?: boolean
  /** True if the visitor types into it, so that the page must not reload automatically. */
  readonly hasFields?: boolean
}

/** A mechanism that opens later. */
export const scheduled = (scene: Scene, record: Record, rule: Inserted): Html =>
  html`${nameHeading(record.name)}${
      record.openAt !== null &&
      html`${countdown(scene, "opensIn", record.openAt)}
        <p>${phrase(scene, "opensAt", { time: instant(scene, record.openAt) })} ${zones(scene, record.openAt)}</p>
        <p>
          <a href="${calendarOfOpening(scene, record, record.openAt)}" download="usher.ics"
            >${say(scene, "calendar")}</a
          >
        </p>
        ${record.id === scene.remindsAt && reminder(scene, record, record.openAt)}`
    }
    <p>${rule}</p>`

/** A reminder by email. It is not offered when it would come at once. */
const reminder = (scene: Scene, { id }: Record, openAt: Millis): Html | false =>
  openAt - scene.now > reminderLeadMinutes * 60_000 &&
  alerting(scene, { action: "remind", at: id, label: "remindMe", told: "reminded" })

/** An email that the visitor may ask for: the form, and the words while it is asked for. */
interface Alerting {
  readonly action: "remind" | "outbid"
  readonly at: string
  readonly label: PlainKey
  readonly told: PlainKey
}

/** The way to ask for an email, and to end it. A visitor without an address gives one first, on a screen of its own. */
export const alerting = (scene: Scene, { action, at, label, told }: Alerting): Html | false => {
  const { alert, takesMail, visitor } = scene
  if (!takesMail || alert?.isPossible === false) return false
  if (visitor !== "authenticated") {
    return html`<p>
      <a class="button quiet" href="${scene.path("place", { show: action, at })}">${say(scene, label)}</a>
    </p>`
  }
  if (alert?.isWanted !== true)
    return form(scene, action, { at, label: say(scene, label), style: "quiet", id: `${action}-${at}` })
  const end = { at, label: say(scene, "stopEmails"), fields: hidden("stop", "1"), style: "small" as const }
  return html`${assured(say(scene, told))}${form(scene, action, { ...end, id: `${action}-${at}` })}`
}

/** The zone of the drop. A script adds the time in the visitor's, if it is another one. */
const zones = ({ formats: { timeZone } }: Scene, at: Millis): Html =>
  html`<small class="muted"
    ><bdi>${timeZone}</bdi> <time data-zone="${timeZone}" datetime="${toText(at)}"></time
  ></small>`

/** An opening lasts as long as a reminder needs to be seen. */
const openingMillis = 30 * 60_000

/** The address of the opening's calendar file. An opening that is moved later replaces the former one. */
const calendarOfOpening = ({ experience }: Scene, { id, name }: Record, openAt: Millis): string =>
  calendarAddress({
    id,
    revision: 0,
    createdAt: openAt,
    updatedAt: openAt,
    startTime: openAt,
    endTime: openAt + openingMillis,
    isCancelled: false,
    summary: `${isolated(experience.name, name)}: ${isolated(name, experience.name)}`
  })

/** The steps of one that may go on to the shop. Only some mechanisms give a time for it. */
export const stepsOfTurn = (
  scene: Scene,
  { admissionExpirationSeconds: seconds }: { readonly admissionExpirationSeconds: number | null }
): ReadonlyArray<string> =>
  seconds === null ? [say(scene, "nextPay")] : [say(scene, "nextGo"), say(scene, "nextPay"), say(scene, "nextPass")]

/** A mechanism that has closed, for a visitor without a place. */
export const closed = (scene: Scene, record: Record, more?: Inserted): Html =>
  html`${nameHeading(record.name)}
    <p>
      ${
        record.closeAt !== null && record.closeAt <= scene.now
          ? phrase(scene, "endedAt", { time: instant(scene, record.closeAt) })
          : say(scene, "ended")
      }
    </p>
    ${more}`

/** When a mechanism closes, if it does. */
export const closing = (scene: Scene, { closeAt }: Record): Html | undefined => {
  if (closeAt === null) return undefined
  const at = html`<time datetime="${toText(closeAt)}" ${turning}>${scene.formats.instant(closeAt)}</time>`
  return html`<p class="muted">${phrase(scene, "closesAt", { time: html`<span data-fact="closes">${at}</span>` })}</p>`
}

/** A form to enter, or what stands in its way. `full` has the words for a mechanism without a free place or unit. */
export const enter = (
  scene: Scene,
  mechanism: MechanismWithFacts,
  label: string,
  fields?: Inserted,
  full: PlainKey = "full"
): Html => {
  const { id } = mechanism.record
  return (
    barred(scene, mechanism, full) ??
    form(scene, "enter", {
      at: id,
      label,
      fields,
      // A form with a choice may be longer than the screen.
      style: fields === undefined ? "main" : undefined,
      id: `enter-${id}`
    })
  )
}

/** Why this visitor cannot enter the open mechanism now; undefined if it can. */
export const barred = (
  scene: Scene,
  { kind, record, live }: MechanismWithFacts,
  full: PlainKey = "full"
): Html | undefined => {
  if (live?.isFull === true) return html`<p><strong>${say(scene, full)}</strong></p>`
  if (scene.admission === "order limit reached") return html`<p>${say(scene, "reasonLimit")}</p>`
  if (scene.admission === "not invited") return html`<p>${say(scene, "notInvited")}</p>`
  // Those who join a waitlist sign in with the same form.
  return kind !== "waitlist" && !record.supportsGuest && scene.visitor !== "authenticated"
    ? html`<p>${say(scene, "guestsRefused")}</p>
        <p><a class="button" href="${scene.path("place", { show: "sign-in" })}">${say(scene, "signIn")}</a></p>`
    : undefined
}

/** A grant that the visitor holds. */
export interface Grant {
  readonly admissionGrant: string
  readonly expiresAt?: Millis
}

/** A grant for a preview, which no shop accepts: its signature is missing, and it names nothing. */
export const sampleGrant = (now: Millis): Grant & { readonly expiresAt: Millis } => ({
  admissionGrant: "eyJhbGciOiJub25lIn0.e30.",
  expiresAt: now + sampleMillis
})

const sampleMillis = 600_000

/** What a turn shows besides the way on. */
interface TurnOptions {
  /** What the visitor has got. */
  readonly lead?: Inserted
  /** Below the way on. */
  readonly more?: Inserted
  /** True if the page does not go on by itself, because there is something to read or to choose. */
  readonly staysHere?: boolean
}

/** It is the visitor's turn: the way on to the shop, as a form post of the grant. */
export const turn = (
  scene: Scene,
  title: string,
  { admissionGrant, expiresAt }: Grant,
  { lead, more, staysHere = false }: TurnOptions = {}
): Html =>
  html`${heading(title)}${lead !== undefined && html`<p class="lead">${lead}</p>`}${
    expiresAt !== undefined &&
    html`${countdown(scene, "timeLeft", expiresAt)}
      <p class="muted">${phrase(scene, "until", { time: instant(scene, expiresAt) })}</p>`
  }${
    scene.shopUrl === undefined
      ? html`<p>${say(scene, "backToShop")}</p>`
      : html`<form
          method="post"
          class="main"
          action="${scene.shopUrl}"
          data-continue="${grantNameIn(admissionGrant)}"
          ${!staysHere && html`data-soon="${JSON.stringify(scene.words.continueSoon)}" data-stay="${say(scene, "stay")}"`}
        >
          ${hidden("usher_grant", admissionGrant)} <button id="continue">${say(scene, "continue")}</button>
        </form>`
  }${more}`

/** How a visitor gives something up: the form, the words of its button, and the effect in a sentence. */
export interface Leaving {
  readonly action: "leave" | "cancel"
  readonly label: PlainKey
  readonly effect: PlainKey
}

/** The way out of a mechanism: small, and last on its card, so that no tap on another button meets it. */
export const wayOut = (scene: Scene, at: string, { action, label }: Leaving): Html =>
  form(scene, action, { at, label: say(scene, label), style: "small", id: `leave-${at}` })

/** The question whether the visitor is sure, with the effect. */
export const sureToLeave = (scene: Scene, at: string, { action, label, effect }: Leaving): Html =>
  html`${heading(say(scene, "sure"))}
    <p>${say(scene, effect)}</p>
    <p><a class="button" href="${scene.path("place")}">${say(scene, "back")}</a></p>
    ${form(scene, action, { at, label: say(scene, label), fields: hidden("confirmed", "1"), style: "small", id: `leave-${at}` })}`

/** Why a place has ended. */
export interface Ending {
  readonly title: PlainKey
  readonly reason?: PlainKey | undefined
  /** A form to enter again, where that is allowed. */
  readonly again?: Inserted
}

/** A standing that may not allow another entry. */
export interface GrantLimit {
  readonly grantLimitReached?: true
}

/** The way to enter again; for a visitor that has had all its grants, that it has. */
export const orGrantLimit = (
  { grantLimitReached }: GrantLimit,
  again: () => Inserted
): Pick<Ending, "reason" | "again"> => (grantLimitReached === true ? { reason: "grantLimit" } : { again: again() })

export const ended = (scene: Scene, { title, reason, again }: Ending): Html =>
  html`${heading(say(scene, title))}${reason !== undefined && html`<p>${say(scene, reason)}</p>`}${again}`

/** The words for the reason of a denial. */
export const deniedFor = (reason: string | undefined): Ending => {
  switch (reason) {
    case "ADMISSION_EXPIRED":
      return { title: "expired", reason: "reasonExpired" }
    case "QUEUE_CLOSED":
    case "DRAW_CLOSED":
    case "AUCTION_CLOSED":
      return { title: "denied", reason: "reasonClosed" }
    case "NOT_SELECTED":
      return { title: "lost", reason: "reasonNotSelected" }
    case "ORDER_LIMIT_EXCEEDED":
      return { title: "denied", reason: "reasonLimit" }
    default:
      return { title: "denied", reason: "reasonAdmin" }
  }
}
