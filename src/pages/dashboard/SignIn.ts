/** The ways in: an invited address with a mailed code, or the secret key of an organization. */
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServerRequest } from "effect/http"
import { codeMinutes } from "../../auth/codes/CodeRows.ts"
import { PersonSignIn } from "../../auth/operators/PersonSignIn.ts"
import { Delivery } from "../../delivery/Delivery.ts"
import * as Message from "../../delivery/Message.ts"
import { isUuid } from "../../domain/values/Ids.ts"
import { plainCode } from "../../domain/values/TypedCode.ts"
import { countedAddress, Origins } from "../../http/server/Origins.ts"
import { codeField } from "../room/signIn/SignInScreens.ts"
import { html } from "../Html.ts"
import { unavailable } from "../Refusal.ts"
import { createsOrganization } from "../../settings/ShellCommand.ts"
import { field, problemNote, type Screen } from "./Frame.ts"
import { fieldsOf, type Frame, type Handle, home, seeOther, type Sessions } from "./Guard.ts"

const hasEnded = "Your session has ended, so nothing was changed. Sign in again."

/** The first screen. A browser whose session has ended is told so. */
export const firstScreen = (query: URLSearchParams): Screen => ({
  ...signInScreen(query.has("ended") ? hasEnded : undefined),
  status: 200
})

/** The screen that asks for the address or the key. */
export const signInScreen = (problem?: string): Screen => ({
  title: "Usher dashboard",
  status: problem === undefined ? 200 : 403,
  body: html`
    ${problemNote(problem)}
    <div class="cards">
      <form method="post" action="${home}/sign-in/code" class="card">
        <h2>With an invitation</h2>
        ${field(
          "Email",
          "email",
          { type: "email", autocomplete: "email" },
          "The address to which an admin sent your invitation."
        )}
        <button>Send me a code</button>
      </form>
      <form method="post" action="${home}/sign-in" class="card">
        <h2>With the secret key</h2>
        <label
          >Secret key
          <input name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="sk_live_…" />
          <span class="hint"
            >You need a key: <code>${createsOrganization}</code> in a terminal makes an organization and prints its
            keys. The secret key signs in here, and the secret test key to test mode.</span
          >
          <span class="hint"
            >The key is used once. Your browser keeps a session of 12 hours instead, which ends when the key is
            rotated.</span
          ></label
        >
        <button>Sign in</button>
      </form>
    </div>
  `
})

/** The screen that asks for the mailed code. It says the same about every address. */
const codeScreen = (email: string, requestId: string, problem?: string): Screen => ({
  title: "Your code",
  status: problem === undefined ? 200 : 403,
  body: html`
    <form method="post" action="${home}/sign-in/verify" class="card">
      ${problemNote(problem)}
      <p>If ${email} was invited, a code is on its way. It is valid for ten minutes.</p>
      <input type="hidden" name="email" value="${email}" />
      <input type="hidden" name="requestId" value="${requestId}" />
      <label>Code ${codeField}</label>
      <button>Sign in</button>
      <a class="button quiet" href="${home}/sign-in">Start again</a>
    </form>
  `
})

const noMail = "This installation sends no mail. Sign in with the secret key, or ask its operator to set SMTP_URL."

const wrongCode =
  "This code is wrong, was used, or has expired. After several wrong codes, request a new one or wait a while."

/** The longest text in which a code is looked for. */
const codeLengthMax = 200

/** The longest text that is taken for an address. */
const emailLengthMax = 320

/** Makes the handlers of the three forms. */
export const makeSignIn = Effect.fnUntraced(function* (sessions: Sessions, frame: Frame) {
  const people = yield* PersonSignIn
  const delivery = yield* Delivery
  const origins = yield* Origins
  const client = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
    countedAddress(origins.of(request).address)
  )

  const withKey: Handle = Effect.gen(function* () {
    const begun = yield* sessions.begin(((yield* fieldsOf).get("key") ?? "").trim(), seeOther(home))
    return begun ?? (yield* frame(signInScreen("This secret key is not valid.")))
  })

  const send = yield* makeSend
  const requestCode: Handle = Effect.gen(function* () {
    const email = ((yield* fieldsOf).get("email") ?? "").trim().slice(0, emailLengthMax)
    if (!delivery.canSend("email")) return yield* frame(signInScreen(noMail))
    return yield* frame(codeScreen(email, yield* send(email, yield* client)))
  })

  const verifyCode: Handle = Effect.gen(function* () {
    const fields = yield* fieldsOf
    const email = (fields.get("email") ?? "").slice(0, emailLengthMax)
    const requestId = fields.get("requestId") ?? ""
    const code = plainCode((fields.get("code") ?? "").slice(0, codeLengthMax))
    // The limit of tries shows in nothing, because only an invited address has one.
    const verified = people
      .verify({ email, code, requestId, client: yield* client })
      .pipe(Effect.catchTags({ Unavailable: unavailable, TooManyAttempts: () => Effect.undefined }))
    const token = isUuid(requestId) ? yield* verified : undefined
    return yield* token === undefined
      ? frame(codeScreen(email, requestId, wrongCode))
      : sessions.keep(token, seeOther(home))
  })

  return { withKey, requestCode, verifyCode }
})

/**
 * Makes the function that mails a code to an address that was invited, and returns the id of the request. It answers
 * before anything happens, so an answer does not tell which address was invited.
 */
const makeSend = Effect.gen(function* () {
  const people = yield* PersonSignIn
  const delivery = yield* Delivery
  const random = yield* SecureRandom.SecureRandom
  const scope = yield* Effect.scope

  const mail = Effect.fnUntraced(function* (email: string, client: string, requestId: string) {
    const made = yield* people.request(email, client, requestId)
    if (made === undefined) return
    yield* delivery.send(
      Message.oneTimeCode({
        tenant: undefined,
        shownTo: made.soleTenant,
        channel: "email",
        to: made.email,
        code: Redacted.value(made.code),
        minutes: codeMinutes
      })
    )
  })

  return Effect.fnUntraced(function* (email: string, client: string) {
    const requestId = yield* random.uuidV7()
    yield* Effect.forkIn(Effect.ignore(mail(email, client, requestId), { log: "Debug" }), scope)
    return requestId
  })
})
