#pragma once

#include <string>

// Keys and tokens that open nothing but the servers that these tests start. Made once: the operator signs the account,
// the account signs the user.

namespace millrace::nats::test::keys {

inline constexpr const char* user_id = "UBPADDHYIPHUKOMT7VEO4PJVHFW3JR3YBJBXLFZDOUTVFTXAR73456TV";
inline constexpr const char* user_seed = "SUAKNPMACJZ4DK7Z3MIS7CPK42ZFSMFRVMUG33ZPBXOFKDSOE4R6HIABLE";
inline constexpr const char* operator_jwt =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJINlFCVFhCWkFLV0FPWDJERTVCSUxSR1pLUVlWN1ZBV"
    "lhDT1RUSTRKM1RYUVpMQllRR1pRIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiOiJPRDJJNU9TVFg1REZSMlc3VFRLRU8ySERQUEtLW"
    "Us3TkRJNkNMUDJYTkFGU1RNUE0zQVgySjc1NSIsIm5hbWUiOiJ0ZXN0IG9wZXJhdG9yIiwic3ViIjoiT0QySTVPU1RYNURGUjJXN"
    "1RUS0VPMkhEUFBLS1lLN05ESTZDTFAyWE5BRlNUTVBNM0FYMko3NTUiLCJuYXRzIjp7InR5cGUiOiJvcGVyYXRvciIsInZlcnNpb"
    "24iOjIsInN5c3RlbV9hY2NvdW50IjoiQUNXREVGVENDUFlOMjRWTDVYSjJBSkJCU0VOSU1CV1ZJNlRHTDI1VlRIT0xZS1NRRERaW"
    "URJMlcifX0.nbSYa-azPVearsAXUauD5s0OAeis2xCdokRBGyGLM2RZB_Op7rcc4tqDmbvtNw1r6dTI4mEzZpi5zNvAJojuDg";
inline constexpr const char* account_id = "ACJHFLAVOWGN4BEBEJZ7SYOLW2WVLK72TLD7IQIMAKWLCTB7U64OJADL";
inline constexpr const char* account_seed = "SAAARLJZZTGVEZR572K6DL5IELLJANF7DFBPHLEI4EFH4D2NEIN54FD7KY";
inline constexpr const char* account_jwt =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJSN1NUTU0yVkpaU0tGVTVaTk9OWDdGNlpIVk9UQzRCT"
    "lNFQ0NNWFFKTU82TU9GVEZQUEZBIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiOiJPRDJJNU9TVFg1REZSMlc3VFRLRU8ySERQUEtLW"
    "Us3TkRJNkNMUDJYTkFGU1RNUE0zQVgySjc1NSIsIm5hbWUiOiJ0ZXN0IGFjY291bnQiLCJzdWIiOiJBQ0pIRkxBVk9XR040QkVCR"
    "UpaN1NZT0xXMldWTEs3MlRMRDdJUUlNQUtXTENUQjdVNjRPSkFETCIsIm5hdHMiOnsidHlwZSI6ImFjY291bnQiLCJ2ZXJzaW9uI"
    "joyLCJsaW1pdHMiOnsic3VicyI6LTEsImRhdGEiOi0xLCJwYXlsb2FkIjotMSwiaW1wb3J0cyI6LTEsImV4cG9ydHMiOi0xLCJ3a"
    "WxkY2FyZHMiOnRydWUsImNvbm4iOi0xLCJsZWFmIjotMSwibWVtX3N0b3JhZ2UiOi0xLCJkaXNrX3N0b3JhZ2UiOi0xfSwiZGVmY"
    "XVsdF9wZXJtaXNzaW9ucyI6eyJwdWIiOnt9LCJzdWIiOnt9fX19.vF9qQwLDMG2yK2POQrviKMQ5628xKSb9k86rs29I0YDmlBEO"
    "Du45goI2U4chfHtDdppB6gb4ExSxQ1_6PVAQDA";
inline constexpr const char* system_id = "ACWDEFTCCPYN24VL5XJ2AJBBSENIMBWVI6TGL25VTHOLYKSQDDZYDI2W";
inline constexpr const char* system_jwt =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJDQ1BPNUhCV0k3VVVHQkRLU1o2SUFUS0FHSk1OTFhFU"
    "TczUEFFU0ZZUEpMVllHSVdJT0lRIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiOiJPRDJJNU9TVFg1REZSMlc3VFRLRU8ySERQUEtLW"
    "Us3TkRJNkNMUDJYTkFGU1RNUE0zQVgySjc1NSIsIm5hbWUiOiJzeXN0ZW0iLCJzdWIiOiJBQ1dERUZUQ0NQWU4yNFZMNVhKMkFKQ"
    "kJTRU5JTUJXVkk2VEdMMjVWVEhPTFlLU1FERFpZREkyVyIsIm5hdHMiOnsidHlwZSI6ImFjY291bnQiLCJ2ZXJzaW9uIjoyLCJsa"
    "W1pdHMiOnsic3VicyI6LTEsImRhdGEiOi0xLCJwYXlsb2FkIjotMSwiaW1wb3J0cyI6LTEsImV4cG9ydHMiOi0xLCJ3aWxkY2FyZ"
    "HMiOnRydWUsImNvbm4iOi0xLCJsZWFmIjotMSwibWVtX3N0b3JhZ2UiOi0xLCJkaXNrX3N0b3JhZ2UiOi0xfSwiZGVmYXVsdF9wZ"
    "XJtaXNzaW9ucyI6eyJwdWIiOnt9LCJzdWIiOnt9fX19.VtOwcGdKqfW9zhtReAKT27L-"
    "ipvBUk_giliyPATeK1_PguotwECsFhnBQ3FX-xI06c-8RDXzs_pO71Ht5NG9Cg";
inline constexpr const char* user_jwt =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJGR1JCUFhFSlM2SkgyVjJYTVpYMzJFQ0VIVUhINzY3Q"
    "05ZSTRSSUNaQ1lTNk1VMk1FTjJRIiwiaWF0IjoxNzAwMDAwMDAwLCJpc3MiOiJBQ0pIRkxBVk9XR040QkVCRUpaN1NZT0xXMldWT"
    "Es3MlRMRDdJUUlNQUtXTENUQjdVNjRPSkFETCIsIm5hbWUiOiJ0ZXN0IHVzZXIiLCJzdWIiOiJVQlBBRERIWUlQSFVLT01UN1ZFT"
    "zRQSlZIRlczSlIzWUJKQlhMRlpET1VUVkZUWEFSNzM0NTZUViIsIm5hdHMiOnsidHlwZSI6InVzZXIiLCJ2ZXJzaW9uIjoyLCJwd"
    "WIiOnt9LCJzdWIiOnt9LCJzdWJzIjotMSwiZGF0YSI6LTEsInBheWxvYWQiOi0xfX0.mRWvEO8wX5LPTBdS4aSjVKSHPGdI1DTeK"
    "ovszdx5AFF0aCrYMlr-P1pNH2T52rI-HN7dJ86JhubLFMsmpYjyAg";

} // namespace millrace::nats::test::keys

namespace millrace::nats::test {

/// A key file with the user's seed.
inline std::string seed_file() {
  return std::string("-----BEGIN USER NKEY SEED-----\n") + keys::user_seed + "\n------END USER NKEY SEED------\n";
}

/// A .creds file of the user with this token.
inline std::string credentials(const std::string& jwt) {
  return "-----BEGIN NATS USER JWT-----\n" + jwt + "\n------END NATS USER JWT------\n\n" + seed_file();
}

/// The configuration of a server that takes the users of this account.
inline std::string operator_mode() {
  std::string text = "resolver: MEMORY\n";
  for (const char* part :
       {"operator: ", keys::operator_jwt, "\nsystem_account: ", keys::system_id, "\nresolver_preload { ",
        keys::account_id, ": ", keys::account_jwt, ", ", keys::system_id, ": ", keys::system_jwt, " }\n"})
    text += part;
  return text;
}

} // namespace millrace::nats::test
