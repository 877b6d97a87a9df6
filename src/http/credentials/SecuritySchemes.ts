/** The credentials of both APIs, as their OpenAPI descriptions declare them. */

/** One set of credentials that an operation accepts: OpenAPI security schemes that are needed together. */
export type Requirement = { readonly [scheme in keyof typeof securitySchemes]?: readonly [] }

/** The OpenAPI security schemes. */
export const securitySchemes = {
  publishableKey: {
    type: "apiKey",
    in: "header",
    name: "X-Publishable-Key",
    description: "Publishable key of the organization: `pk_live_…` or `pk_test_…`."
  },
  accessToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "Access token of a consumer's session."
  },
  secretKey: {
    type: "http",
    scheme: "bearer",
    description: "Secret key of the organization: `sk_live_…` or `sk_test_…`. For servers only."
  },
  consumerId: {
    type: "apiKey",
    in: "header",
    name: "X-Consumer-Id",
    description: "With the secret key: the consumer the server acts for."
  }
} as const
