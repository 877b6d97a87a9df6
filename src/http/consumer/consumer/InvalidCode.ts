/** Turns a wrong one-time code into a 401. */
import { InvalidOneTimeCode } from "../../../api/consumer/AuthApi.ts"
import type { WrongCode } from "../../../auth/codes/OneTimeCodes.ts"
import { answering } from "../../errors/Answering.ts"

export const orInvalidCode = answering({
  WrongCode: ({ reason }: WrongCode) => new InvalidOneTimeCode({ error: reason, message: wrongCodes[reason] })
})

const wrongCodes = {
  otp_invalid: "The code is wrong.",
  otp_expired: "The code has expired or was used. Request a new one."
} as const
