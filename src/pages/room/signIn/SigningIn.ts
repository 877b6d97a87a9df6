/** The actions with which a visitor signs in, by mail or SMS, and out, and shows an access code. */
import { Effect } from "effect"
import type { VerifiedAccess } from "../../../domain/consumer/Session.ts"
import { plainCode } from "../../../domain/values/TypedCode.ts"
import type { Calls } from "../../Calls.ts"
import { Refused } from "../../Refused.ts"
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
const verified = (calls: Calls["Service"], sessions: Sessions, { visit, fields }: Context): Run<VerifiedAccess> => {
  const { channel, value } = addressIn(fields)
  const payload = {
    [channel]: value,
    code: plainCode(fields.get("code") ?? ""),
    requestId: fields.get("request") ?? ""
  }
  return calls.run(callerOf(visit), "auth", "verifyOneTimeCode", { payload }).pipe(
    Effect.mapError((refused) =>
      refused.status === 400 ? new Refused({ status: 401, code: "otp_invalid" }) : refused
    ),
    Effect.flatMap(({ accessToken }) => sessions.ofAccessToken(accessToken))
  )
}

/** Shows the access code of the form. A wrong one can be typed again. */
const showCode = (calls: Calls["Service"], { withSession }: Visitors, { visit, fields }: Context): Run =>
  withSession(visit, (access) => {
    const params = { experienceId: visit.room.experienceId }
    const payload = { accessCode: fields.get("code") ?? "" }
    return calls.run({ holder: visit.holder, access }, "experiences", "enter", { params, payload }).pipe(
      Effect.as<Done>({}),
      Effect.catchTag("Refused", (refused) => {
        const isWrong = refused.status === 403 || refused.status === 400
        const shown = isWrong ? new Refused({ status: 403, code: "ACCESS_CODE" }) : refused
        return Effect.succeed<Done>({ show: { refused: shown, screen: accessCodeScreen } })
      })
    )
  })

/** The text of a page for an invalid address. */
const wrong = { email: "ADDRESS", phone: "PHONE" } as const

/** Makes the actions. `after` runs what a visitor wanted to do before it had to sign in. */
export const make = (
  calls: Calls["Service"],
  sessions: Sessions,
  visitors: Visitors,
  after: (name: string | null, context: Context) => Run
) => {
  const signedIn = (context: Context, session: VerifiedAccess): Run => {
    const visit = { ...context.visit, session: { ...session, isDue: false } }
    // The visitor is signed in also if what comes after is refused.
    return Effect.match(after(context.fields.get("then"), { ...context, visit }), {
      onSuccess: (done) => ({ ...done, session }),
      onFailure: (refused): Done => ({ session, show: showing(refused) })
    })
  }

  return {
    /** Sends a code, and shows where to type it. */
    sendCode: ({ visit, fields }: Context): Run => {
      const to = addressIn(fields)
      const payload = { [to.channel]: to.value }
      return calls.run(callerOf(visit), "auth", "requestOneTimeCode", { payload }).pipe(
        Effect.map(({ requestId }): Done => {
          const sent = { to, requestId }
          return { show: { screen: (scene) => codeScreen(scene, sent, afterwardsIn(fields)) } }
        }),
        Effect.catchTag("Refused", (refused) => {
          const shown = refused.status === 400 ? new Refused({ status: 400, code: wrong[to.channel] }) : refused
          const screen = (scene: Scene) => signInScreen(scene, afterwardsIn(fields), to)
          return Effect.succeed<Done>({ show: { refused: shown, screen } })
        })
      )
    },

    /** Signs in with the code. A wrong one can be typed again. */
    code: (context: Context): Run =>
      Effect.matchEffect(verified(calls, sessions, context), {
        onSuccess: (session) => signedIn(context, session),
        onFailure: (refused) => {
          const { fields } = context
          const sent = { to: addressIn(fields), requestId: fields.get("request") ?? "" }
          const screen = (scene: Scene) => codeScreen(scene, sent, afterwardsIn(fields))
          return Effect.succeed<Done>({ show: { refused, screen } })
        }
      }),

    accessCode: (context: Context): Run => showCode(calls, visitors, context),

    signOut: ({ visit }: Context): Run =>
      visit.session === undefined
        ? Effect.succeed({ isOut: true })
        : Effect.as(calls.run(callerOf(visit), "auth", "logout", {}), { isOut: true } as const)
  }
}
