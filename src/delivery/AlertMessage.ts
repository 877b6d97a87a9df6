/** The email that a consumer has asked for: its subject begins with the brand, and its last line ends the alert. */
import { onOneLine } from "../domain/experience/creative/rendering/Placeholders.ts"
import { isolated } from "../domain/values/Direction.ts"
import type { Millis } from "../domain/values/Time.ts"
import type { DueAlert } from "../store/message/Alerts.ts"
import { alertWordsOf } from "./AlertWords.ts"
import type { OutgoingMessage } from "./Message.ts"

/** UTF-16 units of a name. */
const nameLengthMax = 200

/** The addresses that the email names. */
export interface AlertLinks {
  readonly roomUrl: string
  readonly endUrl: string
}

export const alertMessage = (alert: DueAlert, { roomUrl, endUrl }: AlertLinks): OutgoingMessage => {
  const { tenant, topic, subjectId, consumerId, email, at, timeZone } = alert
  const { language, opens, outbid, goOn, asked, end } = alertWordsOf(alert.language)
  const [brand, name] = [alert.organizationName, alert.name].map((text) => isolated(onOneLine(text, nameLengthMax), ""))
  const what = topic === "OUTBID" ? outbid : opens.replace("{time}", () => instantIn(language, timeZone, at))
  return {
    tenant,
    // Each try has the same id, so that mail systems can drop a duplicate.
    id: `${subjectId}.${consumerId}.${at}`,
    purpose: topic,
    consumerId,
    channel: "email",
    to: email,
    subject: `${brand}: ${what} – ${name}`,
    text: `${name}\n${what}\n\n${goOn}: ${roomUrl}\n\n${asked}\n${end}: ${endUrl}\n`,
    endUrl
  }
}

const instantIn = (language: string, timeZone: string, at: Millis): string =>
  new Intl.DateTimeFormat(language, {
    weekday: "long",
    month: "long",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone
  })
    .format(at)
    .replaceAll("\u202f", " ")
