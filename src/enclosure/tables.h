/* Written by tools/make_enclosure_tables.py; do not edit. */
#ifndef GV_ENCLOSURE_TABLES_H
#define GV_ENCLOSURE_TABLES_H
#include "../truth/dd.h"

#define GV_NEAR_LIMIT 4.5
#define GV_LOG2 0x1.62e42fefa39efp-1 /* log(2) */
#define GV_LOG2_HEAD 0x1.62e42fefa2000p-1 /* log(2), 40 bits */
#define GV_LOG2_TAIL 0x1.9ef35793c7673p-41 /* log(2) - GV_LOG2_HEAD */
#define GV_NEAR_GELU_DEGREE 19
#define GV_NEAR_GELU_GRAD_DEGREE 21
#define GV_LONG_EXP_DEGREE 9
#define GV_MIDDLE_EXP_DEGREE 8
#define GV_SHORT_EXP_DEGREE 7
#define GV_TAIL_MILLS_DEGREE 18

/* (Phi(x) - 1/2)/x in w = x^2 - GV_NEAR_LIMIT^2/2, |w| <= GV_NEAR_LIMIT^2/2 */
GV_UNIFORM_TABLE double gv_near_gelu[20] = {
    0x1.415768254809ap-3,
    -0x1.f3a05ccfd4c6fp-8,
    0x1.17bae9d7bae55p-11,
    -0x1.44c8662fd4536p-15,
    0x1.69e904b25c15fp-19,
    -0x1.773dc53c36300p-23,
    0x1.65979559579cap-27,
    -0x1.382fc6962183ap-31,
    0x1.f3edab758dcdbp-36,
    -0x1.704892887081fp-40,
    0x1.f53c36297ff41p-45,
    -0x1.3c63209d73a40p-49,
    0x1.73dbcff3ea0cfp-54,
    -0x1.98f7929ea18ebp-59,
    0x1.a8a7c181ebab7p-64,
    -0x1.9c062a8005ed9p-69,
    0x1.64160857466b0p-74,
    -0x1.38fdbcf54b01dp-79,
    0x1.6ab3625923704p-84,
    -0x1.15fe7f38b9647p-89,
};
/* (gelu'(x) - 1/2)/x in w = x^2 - GV_NEAR_LIMIT^2/2, |w| <= GV_NEAR_LIMIT^2/2 */
GV_UNIFORM_TABLE double gv_near_gelu_grad[22] = {
    0x1.4683558f0b99dp-3,
    -0x1.232f99b605eefp-7,
    0x1.bd38970fe6127p-11,
    -0x1.7f0bc4b871384p-14,
    0x1.3721d2d2f0258p-17,
    -0x1.bedb8d852caafp-21,
    0x1.18105a69c37d6p-24,
    -0x1.340301fc53d47p-28,
    0x1.2c3beaff55a57p-32,
    -0x1.061e5af3a29f8p-36,
    0x1.9de2e3ce1b1dep-41,
    -0x1.29fff59c38021p-45,
    0x1.8a3d1acfa3906p-50,
    -0x1.e2283909f9e54p-55,
    0x1.11eddc77e3670p-59,
    -0x1.2300c95066398p-64,
    0x1.24040582c0d4ap-69,
    -0x1.117db4494980bp-74,
    0x1.c62441428e54ap-80,
    -0x1.81fb125fcd6b7p-85,
    0x1.b5b81d0294ba0p-90,
    -0x1.4471fb1e2ee0cp-95,
};
/* e^r, |r| <= log(2)/2 (1 + 2^-30) */
GV_UNIFORM_TABLE double gv_long_exp[10] = {
    0x1.000000000003dp+0,
    0x1.0000000000006p+0,
    0x1.ffffffffe74f1p-2,
    0x1.5555555550d88p-3,
    0x1.55555588b8403p-5,
    0x1.11111123bf154p-7,
    0x1.6c162bb7d95c6p-10,
    0x1.a01994c849515p-13,
    0x1.a17df0d91ffa7p-16,
    0x1.72e107c87cf79p-19,
};
/* the same */
GV_UNIFORM_TABLE double gv_middle_exp[9] = {
    0x1.0000000000000p+0,
    0x1.ffffffffd38c1p-1,
    0x1.fffffffff71cfp-2,
    0x1.555555a26dedcp-3,
    0x1.5555557428d91p-5,
    0x1.111080ae05ff8p-7,
    0x1.6c164df443c19p-10,
    0x1.a1aa7f1448e9dp-13,
    0x1.a15a4f98f5504p-16,
};
/* the same */
GV_UNIFORM_TABLE double gv_short_exp[8] = {
    0x1.ffffffffa7135p-1,
    0x1.fffffffff61fdp-1,
    0x1.0000005c89e4ep-1,
    0x1.5555557e7125ep-3,
    0x1.555464a0f06adp-5,
    0x1.1110a6222e9cap-7,
    0x1.6da75318675a8p-10,
    0x1.a17df2ec36e9ep-13,
};
/* Q(a)/(phi(a) sqrt(2 pi)), 0 <= a <= 15, in u = (a - 4)/(a + 4) */
GV_UNIFORM_TABLE double gv_tail_mills[19] = {
    0x1.82b4bb8c94dcap-4,
    -0x1.5cf97b0ae881ap-3,
    0x1.fd751a1fba8dfp-4,
    -0x1.25b6aa9658a65p-4,
    0x1.f9b05f0eb749ap-6,
    -0x1.1644dc2f86849p-7,
    0x1.0a1bd4ca1175bp-11,
    0x1.4eec25a09f763p-11,
    -0x1.888de4a5183efp-13,
    -0x1.7e25317238cbep-15,
    0x1.e0a77f86d7edap-16,
    0x1.36febf0ba7572p-18,
    -0x1.20e31a82270fcp-18,
    -0x1.c23bbe3f2d721p-21,
    0x1.60a26616bef9bp-21,
    0x1.d93b37bc77d5fp-23,
    -0x1.442015bd2efa1p-24,
    -0x1.dca30d8e41abbp-25,
    -0x1.47cd682a5e1fdp-27,
};

#endif
