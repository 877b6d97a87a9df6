/** The actions with which a visitor signs in, by mail or SMS, and out, and shows an access code. */
import { Effect } from "effect"
import type { VerifiedAccess } from "../../../domain/consumer/Session.ts"
import { plainCode } from "../../../domain/values/TypedCode.ts"
import type { ConsumerApiClient } from "../../ApiClients.ts"
import { Refusal } from "../../Refusal.ts"
import type { Scene } from "../Scene.ts"
import type { Sessions } from "../Session.ts"
import { accessCodeScreen, type Afterwards, codeScreen, signInScreen, type Typed } from "./SignInScreens.ts"
import { callerOf } from "../Visit.ts"
import { type Context, type Done, type Fields, type Run, showing, type Visitors } from "../Visitors.ts"

/** The action that a form requests after the sign-in. */
const afterwardsIn = (fields: Fields): Afterwards => ({
  action: fields.get("then") ?? undefined,
  at: fields.get("at") ?? undefined
})

/** The address of the form: a phone number if it has one, else an email address. */
const addressIn = (fields: Fields): Typed => {
  const phone = fields.get("phone")
  return phone === null
    ? { channel: "email", value: (fields.get("email") ?? "").trim() }
    : { channel: "phone", value: phone.trim() }
}

/** Returns the session that a code starts. A guest keeps its places. */
const verified = (
  api: ConsumerApiClient["Service"],
  sessions: Sessions,
  { visit, fields }: Context
): Run<VerifiedAccess> => {
  const { channel, value } = addressIn(fields)
  const payload = {
    [channel]: value,
    code: plainCode(fields.get("code") ?? ""),
    requestId: fields.get("request") ?? ""
  }
  return api.run(callerOf(visit), "auth", "verifyOneTimeCode", { payload }).pipe(
    Effect.mapError((refusal) =>
      refusal.status === 400 ? new Refusal({ status: 401, code: "otp_invalid" }) : refusal
    ),
    Effect.flatMap(({ accessToken }) => sessions.ofAccessToken(accessToken))
  )
}

/** Shows the access code of the form. A wrong one can be typed again. */
const showCode = (api: ConsumerApiClient["Service"], { withSession }: Visitors, { visit, fields }: Context): Run =>
  withSession(visit, (access) => {
    const params = { experienceId: visit.room.experienceId }
    const payload = { accessCode: fields.get("code") ?? "" }
    return api.run({ holder: visit.holder, access }, "experiences", "enter", { params, payload }).pipe(
      Effect.as<Done>({}),
      Effect.catchTag("Refusal", (refusal) => {
        const isWrong = refusal.status === 403 || refusal.status === 400
        const shown = isWrong ? new Refusal({ status: 403, code: "ACCESS_CODE" }) : refusal
        return Effect.succeed<Done>({ show: { refusal: shown, screen: accessCodeScreen } })
      })
    )
  })

/** The text of a page for an invalid address. */
const wrong = { email: "ADDRESS", phone: "PHONE" } as const

/** Makes the actions. `after` runs what a visitor wanted to do before it had to sign in. */
export const make = (
  api: ConsumerApiClient["Service"],
  sessions: Sessions,
  visitors: Visitors,
  after: (name: string | null, context: Context) => Run
) => {
  const signedIn = (context: Context, session: VerifiedAccess): Run => {
    const visit = { ...context.visit, session: { ...session, isDue: false } }
    // The visitor is signed in also if what comes after is refused.
    return Effect.match(after(context.fields.get("then"), { ...context, visit }), {
      onSuccess: (done) => ({ ...done, session }),
      onFailure: (refusal): Done => ({ session, show: showing(refusal) })
    })
  }

  return {
    /** Sends a code, and shows where to type it. */
    sendCode: ({ visit, fields }: Context): Run => {
      const to = addressIn(fields)
      const payload = { [to.channel]: to.value }
      return api.run(callerOf(visit), "auth", "requestOneTimeCode", { payload }).pipe(
        Effect.map(({ requestId }): Done => {
          const sent = { to, requestId }
          return { show: { screen: (scene) => codeScreen(scene, sent, afterwardsIn(fields)) } }
        }),
        Effect.catchTag("Refusal", (refusal) => {
          const shown = refusal.status === 400 ? new Refusal({ status: 400, code: wrong[to.channel] }) : refusal
          const screen = (scene: Scene) => signInScreen(scene, afterwardsIn(fields), to)
          return Effect.succeed<Done>({ show: { refusal: shown, screen } })
        })
      )
    },

    /** Signs in with the code. A wrong one can be typed again. */
    code: (context: Context): Run =>
      Effect.matchEffect(verified(api, sessions, context), {
        onSuccess: (session) => signedIn(context, session),
        onFailure: (refusal) => {
          const { fields } = context
          const sent = { to: addressIn(fields), requestId: fields.get("request") ?? "" }
          const screen = (scene: Scene) => codeScreen(scene, sent, afterwardsIn(fields))
          return Effect.succeed<Done>({ show: { refusal, screen } })
        }
      }),

    accessCode: (context: Context): Run => showCode(api, visitors, context),

    signOut: ({ visit }: Context): Run =>
      visit.session === undefined
        ? Effect.succeed({ isOut: true })
        : Effect.as(api.run(callerOf(visit), "auth", "logout", {}), { isOut: true } as const)
  }
}
