// Made by tools/ptx of kernels.cu with Debian clang version 14.0.6: not to be edited.
// SHA-256 of kernels.cu and the options: eb2a25cff7ed1e94d357e54ac4a870c8a515eb034575b20d3dd18eca2bc3b2f8
#include "device/kernels_ptx.hpp"

namespace tare::device {
namespace {

// clang-format off
constexpr char kHead[] = R"ptx(.version 6.0
.target sm_70
.address_size 64
.const .align 8 .b8 _ZL6kStart[64] = {61, 174, 178, 194, 0, 0, 0, 0, 135, 202, 235, 133, 177, 121, 55, 158, 79, 235, 212, 39, 61, 174, 178, 194, 249, 121, 55, 158, 177, 103, 86, 22, 99, 174, 178, 194, 119, 202, 235, 133, 119, 202, 235, 133, 0, 0, 0, 0, 197, 103, 86, 22, 47, 235, 212, 39, 177, 121, 55, 158, 0, 0, 0, 0};
.const .align 8 .b8 _ZL7kSecret[192] = {184, 254, 108, 57, 35, 164, 75, 190, 124, 1, 129, 44, 247, 33, 173, 28, 222, 212, 109, 233, 131, 144, 151, 219, 114, 64, 164, 164, 183, 179, 103, 31, 203, 121, 230, 78, 204, 192, 229, 120, 130, 90, 208, 125, 204, 255, 114, 33, 184, 8, 70, 116, 247, 67, 36, 142, 224, 53, 144, 230, 129, 58, 38, 76, 60, 40, 82, 187, 145, 195, 0, 203, 136, 208, 101, 139, 27, 83, 46, 163, 113, 100, 72, 151, 162, 13, 249, 78, 56, 25, 239, 70, 169, 222, 172, 216, 168, 250, 118, 63, 227, 156, 52, 63, 249, 220, 187, 199, 199, 11, 79, 29, 138, 81, 224, 75, 205, 180, 89, 49, 200, 159, 126, 201, 217, 120, 115, 100, 234, 197, 172, 131, 52, 211, 235, 195, 197, 129, 160, 255, 250, 19, 99, 235, 23, 13, 221, 81, 183, 240, 218, 73, 211, 22, 85, 38, 41, 212, 104, 158, 43, 22, 190, 88, 125, 71, 161, 252, 143, 248, 184, 209, 122, 208, 49, 206, 69, 203, 58, 143, 149, 22, 4, 40, 175, 215, 251, 202, 187, 75, 64, 126};
.const .align 4 .b8 _ZL4kIq4[64] = {0, 0, 254, 194, 0, 0, 208, 194, 0, 0, 166, 194, 0, 0, 130, 194, 0, 0, 68, 194, 0, 0, 12, 194, 0, 0, 176, 193, 0, 0, 32, 193, 0, 0, 128, 63, 0, 0, 80, 65, 0, 0, 200, 65, 0, 0, 24, 66, 0, 0, 84, 66, 0, 0, 138, 66, 0, 0, 178, 66, 0, 0, 226, 66};
)ptx";
constexpr char k_cast_f32[] = R"ptx(.visible .entry cast_f32(
.param .u64 cast_f32_param_0,
.param .u64 cast_f32_param_1,
.param .u64 cast_f32_param_2,
.param .u64 cast_f32_param_3,
.param .u64 cast_f32_param_4,
.param .u64 cast_f32_param_5,
.param .u64 cast_f32_param_6,
.param .u64 cast_f32_param_7,
.param .u64 cast_f32_param_8
)
{
.reg .pred 	%p<42>;
.reg .b16 	%rs<55>;
.reg .b32 	%r<107>;
.reg .f32 	%f<38>;
.reg .b64 	%rd<25>;
ld.param.u64 	%rd8, [cast_f32_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd12, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd13, %r35;
add.s64 	%rd14, %rd12, %rd13;
shl.b64 	%rd3, %rd14, 3;
setp.ge.u64 	%p1, %rd3, %rd8;
@%p1 bra 	LBB0_89;
ld.param.u64 	%rd10, [cast_f32_param_0];
cvta.to.global.u64 	%rd2, %rd10;
shl.b64 	%rd15, %rd3, 2;
add.s64 	%rd4, %rd2, %rd15;
or.b64  	%rd16, %rd3, 1;
setp.ge.u64 	%p2, %rd16, %rd8;
mov.f32 	%f15, 0f00000000;
mov.f32 	%f3, %f15;
@%p2 bra 	LBB0_3;
ld.global.f32 	%f3, [%rd4+4];
LBB0_3:
or.b64  	%rd17, %rd3, 2;
setp.ge.u64 	%p3, %rd17, %rd8;
mov.f32 	%f5, %f15;
@%p3 bra 	LBB0_5;
ld.global.f32 	%f5, [%rd4+8];
LBB0_5:
or.b64  	%rd18, %rd3, 3;
setp.ge.u64 	%p4, %rd18, %rd8;
mov.f32 	%f7, %f15;
@%p4 bra 	LBB0_7;
ld.global.f32 	%f7, [%rd4+12];
LBB0_7:
or.b64  	%rd19, %rd3, 4;
setp.ge.u64 	%p5, %rd19, %rd8;
mov.f32 	%f9, %f15;
@%p5 bra 	LBB0_9;
ld.global.f32 	%f9, [%rd4+16];
LBB0_9:
or.b64  	%rd20, %rd3, 5;
setp.ge.u64 	%p6, %rd20, %rd8;
mov.f32 	%f11, %f15;
@%p6 bra 	LBB0_11;
ld.global.f32 	%f11, [%rd4+20];
LBB0_11:
or.b64  	%rd21, %rd3, 6;
setp.ge.u64 	%p7, %rd21, %rd8;
mov.f32 	%f13, %f15;
@%p7 bra 	LBB0_13;
ld.global.f32 	%f13, [%rd4+24];
LBB0_13:
ld.param.u64 	%rd11, [cast_f32_param_3];
ld.param.u64 	%rd9, [cast_f32_param_8];
or.b64  	%rd22, %rd3, 7;
setp.ge.u64 	%p8, %rd22, %rd8;
@%p8 bra 	LBB0_15;
ld.global.f32 	%f15, [%rd4+28];
LBB0_15:
cvta.to.global.u64 	%rd1, %rd11;
ld.global.f32 	%f1, [%rd4];
sub.s64 	%rd5, %rd8, %rd3;
setp.ne.s64 	%p9, %rd9, 0;
@%p9 bra 	LBB0_33;
bra.uni 	LBB0_16;
LBB0_33:
setp.eq.s64 	%p10, %rd9, 1;
@%p10 bra 	LBB0_32;
bra.uni 	LBB0_34;
LBB0_32:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB0_38;
LBB0_16:
add.s64 	%rd6, %rd1, %rd15;
setp.gt.u64 	%p34, %rd5, 7;
@%p34 bra 	LBB0_31;
setp.eq.s64 	%p35, %rd5, 0;
@%p35 bra 	LBB0_19;
st.global.f32 	[%rd6], %f1;
LBB0_19:
setp.lt.u64 	%p36, %rd5, 2;
@%p36 bra 	LBB0_21;
st.global.f32 	[%rd6+4], %f3;
LBB0_21:
setp.lt.u64 	%p37, %rd5, 3;
@%p37 bra 	LBB0_23;
st.global.f32 	[%rd6+8], %f5;
LBB0_23:
setp.lt.u64 	%p38, %rd5, 4;
@%p38 bra 	LBB0_25;
st.global.f32 	[%rd6+12], %f7;
LBB0_25:
setp.lt.u64 	%p39, %rd5, 5;
@%p39 bra 	LBB0_27;
st.global.f32 	[%rd6+16], %f9;
LBB0_27:
setp.lt.u64 	%p40, %rd5, 6;
@%p40 bra 	LBB0_29;
st.global.f32 	[%rd6+20], %f11;
LBB0_29:
setp.lt.u64 	%p41, %rd5, 7;
@%p41 bra 	LBB0_89;
st.global.f32 	[%rd6+24], %f13;
bra.uni 	LBB0_89;
LBB0_34:
mov.b32 	%r1, %f1;
and.b32  	%r36, %r1, 2147483647;
setp.lt.u32 	%p11, %r36, 2139095041;
@%p11 bra 	LBB0_36;
shr.u32 	%r40, %r1, 16;
or.b32  	%r106, %r40, 64;
bra.uni 	LBB0_37;
LBB0_31:
st.global.v4.f32 	[%rd6], {%f1, %f3, %f5, %f7};
st.global.v4.f32 	[%rd6+16], {%f9, %f11, %f13, %f15};
bra.uni 	LBB0_89;
LBB0_36:
bfe.u32 	%r37, %r1, 16, 1;
add.s32 	%r38, %r1, %r37;
add.s32 	%r39, %r38, 32767;
shr.u32 	%r106, %r39, 16;
LBB0_37:
cvt.u16.u32 	%rs3, %r106;
LBB0_38:
@%p10 bra 	LBB0_42;
bra.uni 	LBB0_39;
LBB0_42:
cvt.rn.f16.f32 %rs48, %f3;
bra.uni 	LBB0_43;
LBB0_39:
mov.b32 	%r5, %f3;
and.b32  	%r41, %r5, 2147483647;
setp.gt.u32 	%p13, %r41, 2139095040;
@%p13 bra 	LBB0_41;
bra.uni 	LBB0_40;
LBB0_41:
shr.u32 	%r45, %r5, 16;
or.b32  	%r7, %r45, 64;
cvt.u16.u32 	%rs48, %r7;
bra.uni 	LBB0_43;
LBB0_40:
bfe.u32 	%r42, %r5, 16, 1;
add.s32 	%r43, %r5, %r42;
add.s32 	%r44, %r43, 32767;
shr.u32 	%r6, %r44, 16;
cvt.u16.u32 	%rs48, %r6;
LBB0_43:
@%p10 bra 	LBB0_47;
bra.uni 	LBB0_44;
LBB0_47:
cvt.rn.f16.f32 %rs49, %f5;
bra.uni 	LBB0_48;
LBB0_44:
mov.b32 	%r9, %f5;
and.b32  	%r46, %r9, 2147483647;
setp.gt.u32 	%p15, %r46, 2139095040;
@%p15 bra 	LBB0_46;
bra.uni 	LBB0_45;
LBB0_46:
shr.u32 	%r50, %r9, 16;
or.b32  	%r11, %r50, 64;
cvt.u16.u32 	%rs49, %r11;
bra.uni 	LBB0_48;
LBB0_45:
bfe.u32 	%r47, %r9, 16, 1;
add.s32 	%r48, %r9, %r47;
add.s32 	%r49, %r48, 32767;
shr.u32 	%r10, %r49, 16;
cvt.u16.u32 	%rs49, %r10;
LBB0_48:
@%p10 bra 	LBB0_52;
bra.uni 	LBB0_49;
LBB0_52:
cvt.rn.f16.f32 %rs50, %f7;
bra.uni 	LBB0_53;
LBB0_49:
mov.b32 	%r13, %f7;
and.b32  	%r51, %r13, 2147483647;
setp.gt.u32 	%p17, %r51, 2139095040;
@%p17 bra 	LBB0_51;
bra.uni 	LBB0_50;
LBB0_51:
shr.u32 	%r55, %r13, 16;
or.b32  	%r15, %r55, 64;
cvt.u16.u32 	%rs50, %r15;
bra.uni 	LBB0_53;
LBB0_50:
bfe.u32 	%r52, %r13, 16, 1;
add.s32 	%r53, %r13, %r52;
add.s32 	%r54, %r53, 32767;
shr.u32 	%r14, %r54, 16;
cvt.u16.u32 	%rs50, %r14;
LBB0_53:
@%p10 bra 	LBB0_57;
bra.uni 	LBB0_54;
LBB0_57:
cvt.rn.f16.f32 %rs51, %f9;
bra.uni 	LBB0_58;
LBB0_54:
mov.b32 	%r17, %f9;
and.b32  	%r56, %r17, 2147483647;
setp.gt.u32 	%p19, %r56, 2139095040;
@%p19 bra 	LBB0_56;
bra.uni 	LBB0_55;
LBB0_56:
shr.u32 	%r60, %r17, 16;
or.b32  	%r19, %r60, 64;
cvt.u16.u32 	%rs51, %r19;
bra.uni 	LBB0_58;
LBB0_55:
bfe.u32 	%r57, %r17, 16, 1;
add.s32 	%r58, %r17, %r57;
add.s32 	%r59, %r58, 32767;
shr.u32 	%r18, %r59, 16;
cvt.u16.u32 	%rs51, %r18;
LBB0_58:
@%p10 bra 	LBB0_62;
bra.uni 	LBB0_59;
LBB0_62:
cvt.rn.f16.f32 %rs52, %f11;
bra.uni 	LBB0_63;
LBB0_59:
mov.b32 	%r21, %f11;
and.b32  	%r61, %r21, 2147483647;
setp.gt.u32 	%p21, %r61, 2139095040;
@%p21 bra 	LBB0_61;
bra.uni 	LBB0_60;
LBB0_61:
shr.u32 	%r65, %r21, 16;
or.b32  	%r23, %r65, 64;
cvt.u16.u32 	%rs52, %r23;
bra.uni 	LBB0_63;
LBB0_60:
bfe.u32 	%r62, %r21, 16, 1;
add.s32 	%r63, %r21, %r62;
add.s32 	%r64, %r63, 32767;
shr.u32 	%r22, %r64, 16;
cvt.u16.u32 	%rs52, %r22;
LBB0_63:
@%p10 bra 	LBB0_67;
bra.uni 	LBB0_64;
LBB0_67:
cvt.rn.f16.f32 %rs53, %f13;
bra.uni 	LBB0_68;
LBB0_64:
mov.b32 	%r25, %f13;
and.b32  	%r66, %r25, 2147483647;
setp.gt.u32 	%p23, %r66, 2139095040;
@%p23 bra 	LBB0_66;
bra.uni 	LBB0_65;
LBB0_66:
shr.u32 	%r70, %r25, 16;
or.b32  	%r27, %r70, 64;
cvt.u16.u32 	%rs53, %r27;
bra.uni 	LBB0_68;
LBB0_65:
bfe.u32 	%r67, %r25, 16, 1;
add.s32 	%r68, %r25, %r67;
add.s32 	%r69, %r68, 32767;
shr.u32 	%r26, %r69, 16;
cvt.u16.u32 	%rs53, %r26;
LBB0_68:
@%p10 bra 	LBB0_72;
bra.uni 	LBB0_69;
LBB0_72:
cvt.rn.f16.f32 %rs54, %f15;
bra.uni 	LBB0_73;
LBB0_69:
mov.b32 	%r29, %f15;
and.b32  	%r71, %r29, 2147483647;
setp.gt.u32 	%p25, %r71, 2139095040;
@%p25 bra 	LBB0_71;
bra.uni 	LBB0_70;
LBB0_71:
shr.u32 	%r75, %r29, 16;
or.b32  	%r31, %r75, 64;
cvt.u16.u32 	%rs54, %r31;
bra.uni 	LBB0_73;
LBB0_70:
bfe.u32 	%r72, %r29, 16, 1;
add.s32 	%r73, %r29, %r72;
add.s32 	%r74, %r73, 32767;
shr.u32 	%r30, %r74, 16;
cvt.u16.u32 	%rs54, %r30;
LBB0_73:
shl.b64 	%rd23, %rd3, 1;
add.s64 	%rd7, %rd1, %rd23;
setp.lt.u64 	%p26, %rd5, 8;
@%p26 bra 	LBB0_75;
bra.uni 	LBB0_74;
LBB0_75:
setp.eq.s64 	%p27, %rd5, 0;
@%p27 bra 	LBB0_77;
st.global.u16 	[%rd7], %rs3;
LBB0_77:
setp.lt.u64 	%p28, %rd5, 2;
@%p28 bra 	LBB0_79;
st.global.u16 	[%rd7+2], %rs48;
LBB0_79:
setp.lt.u64 	%p29, %rd5, 3;
@%p29 bra 	LBB0_81;
st.global.u16 	[%rd7+4], %rs49;
LBB0_81:
setp.lt.u64 	%p30, %rd5, 4;
@%p30 bra 	LBB0_83;
st.global.u16 	[%rd7+6], %rs50;
LBB0_83:
setp.lt.u64 	%p31, %rd5, 5;
@%p31 bra 	LBB0_85;
st.global.u16 	[%rd7+8], %rs51;
LBB0_85:
setp.lt.u64 	%p32, %rd5, 6;
@%p32 bra 	LBB0_87;
st.global.u16 	[%rd7+10], %rs52;
LBB0_87:
setp.lt.u64 	%p33, %rd5, 7;
@%p33 bra 	LBB0_89;
st.global.u16 	[%rd7+12], %rs53;
bra.uni 	LBB0_89;
LBB0_74:
cvt.u32.u16 	%r76, %rs3;
cvt.u32.u16 	%r77, %rs48;
shl.b32 	%r78, %r77, 16;
or.b32  	%r79, %r78, %r76;
cvt.u32.u16 	%r80, %rs49;
cvt.u32.u16 	%r81, %rs50;
shl.b32 	%r82, %r81, 16;
or.b32  	%r83, %r82, %r80;
cvt.u32.u16 	%r84, %rs51;
cvt.u32.u16 	%r85, %rs52;
shl.b32 	%r86, %r85, 16;
or.b32  	%r87, %r86, %r84;
cvt.u32.u16 	%r88, %rs53;
cvt.u32.u16 	%r89, %rs54;
shl.b32 	%r90, %r89, 16;
or.b32  	%r91, %r90, %r88;
st.global.v4.u32 	[%rd7], {%r79, %r83, %r87, %r91};
LBB0_89:
ret;
}
)ptx";
constexpr char k_cast_f16[] = R"ptx(.visible .entry cast_f16(
.param .u64 cast_f16_param_0,
.param .u64 cast_f16_param_1,
.param .u64 cast_f16_param_2,
.param .u64 cast_f16_param_3,
.param .u64 cast_f16_param_4,
.param .u64 cast_f16_param_5,
.param .u64 cast_f16_param_6,
.param .u64 cast_f16_param_7,
.param .u64 cast_f16_param_8
)
{
.reg .pred 	%p<42>;
.reg .b16 	%rs<63>;
.reg .b32 	%r<107>;
.reg .f32 	%f<46>;
.reg .b64 	%rd<25>;
ld.param.u64 	%rd8, [cast_f16_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd12, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd13, %r35;
add.s64 	%rd14, %rd12, %rd13;
shl.b64 	%rd3, %rd14, 3;
setp.ge.u64 	%p1, %rd3, %rd8;
@%p1 bra 	LBB1_89;
ld.param.u64 	%rd10, [cast_f16_param_0];
cvta.to.global.u64 	%rd2, %rd10;
shl.b64 	%rd15, %rd3, 1;
add.s64 	%rd4, %rd2, %rd15;
ld.global.u16 	%rs25, [%rd4];
cvt.f32.f16 %f1, %rs25;
or.b64  	%rd16, %rd3, 1;
setp.ge.u64 	%p2, %rd16, %rd8;
mov.f32 	%f15, 0f00000000;
mov.f32 	%f3, %f15;
@%p2 bra 	LBB1_3;
ld.global.u16 	%rs26, [%rd4+2];
cvt.f32.f16 %f3, %rs26;
LBB1_3:
or.b64  	%rd17, %rd3, 2;
setp.ge.u64 	%p3, %rd17, %rd8;
mov.f32 	%f5, %f15;
@%p3 bra 	LBB1_5;
ld.global.u16 	%rs27, [%rd4+4];
cvt.f32.f16 %f5, %rs27;
LBB1_5:
or.b64  	%rd18, %rd3, 3;
setp.ge.u64 	%p4, %rd18, %rd8;
mov.f32 	%f7, %f15;
@%p4 bra 	LBB1_7;
ld.global.u16 	%rs28, [%rd4+6];
cvt.f32.f16 %f7, %rs28;
LBB1_7:
or.b64  	%rd19, %rd3, 4;
setp.ge.u64 	%p5, %rd19, %rd8;
mov.f32 	%f9, %f15;
@%p5 bra 	LBB1_9;
ld.global.u16 	%rs29, [%rd4+8];
cvt.f32.f16 %f9, %rs29;
LBB1_9:
or.b64  	%rd20, %rd3, 5;
setp.ge.u64 	%p6, %rd20, %rd8;
mov.f32 	%f11, %f15;
@%p6 bra 	LBB1_11;
ld.global.u16 	%rs30, [%rd4+10];
cvt.f32.f16 %f11, %rs30;
LBB1_11:
or.b64  	%rd21, %rd3, 6;
setp.ge.u64 	%p7, %rd21, %rd8;
mov.f32 	%f13, %f15;
@%p7 bra 	LBB1_13;
ld.global.u16 	%rs31, [%rd4+12];
cvt.f32.f16 %f13, %rs31;
LBB1_13:
ld.param.u64 	%rd11, [cast_f16_param_3];
ld.param.u64 	%rd9, [cast_f16_param_8];
or.b64  	%rd22, %rd3, 7;
setp.ge.u64 	%p8, %rd22, %rd8;
@%p8 bra 	LBB1_15;
ld.global.u16 	%rs32, [%rd4+14];
cvt.f32.f16 %f15, %rs32;
LBB1_15:
cvta.to.global.u64 	%rd1, %rd11;
sub.s64 	%rd5, %rd8, %rd3;
setp.ne.s64 	%p9, %rd9, 0;
@%p9 bra 	LBB1_33;
bra.uni 	LBB1_16;
LBB1_33:
setp.eq.s64 	%p10, %rd9, 1;
@%p10 bra 	LBB1_32;
bra.uni 	LBB1_34;
LBB1_32:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB1_38;
LBB1_16:
shl.b64 	%rd24, %rd3, 2;
add.s64 	%rd6, %rd1, %rd24;
setp.gt.u64 	%p34, %rd5, 7;
@%p34 bra 	LBB1_31;
setp.eq.s64 	%p35, %rd5, 0;
@%p35 bra 	LBB1_19;
st.global.f32 	[%rd6], %f1;
LBB1_19:
setp.lt.u64 	%p36, %rd5, 2;
@%p36 bra 	LBB1_21;
st.global.f32 	[%rd6+4], %f3;
LBB1_21:
setp.lt.u64 	%p37, %rd5, 3;
@%p37 bra 	LBB1_23;
st.global.f32 	[%rd6+8], %f5;
LBB1_23:
setp.lt.u64 	%p38, %rd5, 4;
@%p38 bra 	LBB1_25;
st.global.f32 	[%rd6+12], %f7;
LBB1_25:
setp.lt.u64 	%p39, %rd5, 5;
@%p39 bra 	LBB1_27;
st.global.f32 	[%rd6+16], %f9;
LBB1_27:
setp.lt.u64 	%p40, %rd5, 6;
@%p40 bra 	LBB1_29;
st.global.f32 	[%rd6+20], %f11;
LBB1_29:
setp.lt.u64 	%p41, %rd5, 7;
@%p41 bra 	LBB1_89;
st.global.f32 	[%rd6+24], %f13;
bra.uni 	LBB1_89;
LBB1_34:
mov.b32 	%r1, %f1;
and.b32  	%r36, %r1, 2147483647;
setp.lt.u32 	%p11, %r36, 2139095041;
@%p11 bra 	LBB1_36;
shr.u32 	%r40, %r1, 16;
or.b32  	%r106, %r40, 64;
bra.uni 	LBB1_37;
LBB1_31:
st.global.v4.f32 	[%rd6], {%f1, %f3, %f5, %f7};
st.global.v4.f32 	[%rd6+16], {%f9, %f11, %f13, %f15};
bra.uni 	LBB1_89;
LBB1_36:
bfe.u32 	%r37, %r1, 16, 1;
add.s32 	%r38, %r1, %r37;
add.s32 	%r39, %r38, 32767;
shr.u32 	%r106, %r39, 16;
LBB1_37:
cvt.u16.u32 	%rs3, %r106;
LBB1_38:
@%p10 bra 	LBB1_42;
bra.uni 	LBB1_39;
LBB1_42:
cvt.rn.f16.f32 %rs56, %f3;
bra.uni 	LBB1_43;
LBB1_39:
mov.b32 	%r5, %f3;
and.b32  	%r41, %r5, 2147483647;
setp.gt.u32 	%p13, %r41, 2139095040;
@%p13 bra 	LBB1_41;
bra.uni 	LBB1_40;
LBB1_41:
shr.u32 	%r45, %r5, 16;
or.b32  	%r7, %r45, 64;
cvt.u16.u32 	%rs56, %r7;
bra.uni 	LBB1_43;
LBB1_40:
bfe.u32 	%r42, %r5, 16, 1;
add.s32 	%r43, %r5, %r42;
add.s32 	%r44, %r43, 32767;
shr.u32 	%r6, %r44, 16;
cvt.u16.u32 	%rs56, %r6;
LBB1_43:
@%p10 bra 	LBB1_47;
bra.uni 	LBB1_44;
LBB1_47:
cvt.rn.f16.f32 %rs57, %f5;
bra.uni 	LBB1_48;
LBB1_44:
mov.b32 	%r9, %f5;
and.b32  	%r46, %r9, 2147483647;
setp.gt.u32 	%p15, %r46, 2139095040;
@%p15 bra 	LBB1_46;
bra.uni 	LBB1_45;
LBB1_46:
shr.u32 	%r50, %r9, 16;
or.b32  	%r11, %r50, 64;
cvt.u16.u32 	%rs57, %r11;
bra.uni 	LBB1_48;
LBB1_45:
bfe.u32 	%r47, %r9, 16, 1;
add.s32 	%r48, %r9, %r47;
add.s32 	%r49, %r48, 32767;
shr.u32 	%r10, %r49, 16;
cvt.u16.u32 	%rs57, %r10;
LBB1_48:
@%p10 bra 	LBB1_52;
bra.uni 	LBB1_49;
LBB1_52:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB1_53;
LBB1_49:
mov.b32 	%r13, %f7;
and.b32  	%r51, %r13, 2147483647;
setp.gt.u32 	%p17, %r51, 2139095040;
@%p17 bra 	LBB1_51;
bra.uni 	LBB1_50;
LBB1_51:
shr.u32 	%r55, %r13, 16;
or.b32  	%r15, %r55, 64;
cvt.u16.u32 	%rs58, %r15;
bra.uni 	LBB1_53;
LBB1_50:
bfe.u32 	%r52, %r13, 16, 1;
add.s32 	%r53, %r13, %r52;
add.s32 	%r54, %r53, 32767;
shr.u32 	%r14, %r54, 16;
cvt.u16.u32 	%rs58, %r14;
LBB1_53:
@%p10 bra 	LBB1_57;
bra.uni 	LBB1_54;
LBB1_57:
cvt.rn.f16.f32 %rs59, %f9;
bra.uni 	LBB1_58;
LBB1_54:
mov.b32 	%r17, %f9;
and.b32  	%r56, %r17, 2147483647;
setp.gt.u32 	%p19, %r56, 2139095040;
@%p19 bra 	LBB1_56;
bra.uni 	LBB1_55;
LBB1_56:
shr.u32 	%r60, %r17, 16;
or.b32  	%r19, %r60, 64;
cvt.u16.u32 	%rs59, %r19;
bra.uni 	LBB1_58;
LBB1_55:
bfe.u32 	%r57, %r17, 16, 1;
add.s32 	%r58, %r17, %r57;
add.s32 	%r59, %r58, 32767;
shr.u32 	%r18, %r59, 16;
cvt.u16.u32 	%rs59, %r18;
LBB1_58:
@%p10 bra 	LBB1_62;
bra.uni 	LBB1_59;
LBB1_62:
cvt.rn.f16.f32 %rs60, %f11;
bra.uni 	LBB1_63;
LBB1_59:
mov.b32 	%r21, %f11;
and.b32  	%r61, %r21, 2147483647;
setp.gt.u32 	%p21, %r61, 2139095040;
@%p21 bra 	LBB1_61;
bra.uni 	LBB1_60;
LBB1_61:
shr.u32 	%r65, %r21, 16;
or.b32  	%r23, %r65, 64;
cvt.u16.u32 	%rs60, %r23;
bra.uni 	LBB1_63;
LBB1_60:
bfe.u32 	%r62, %r21, 16, 1;
add.s32 	%r63, %r21, %r62;
add.s32 	%r64, %r63, 32767;
shr.u32 	%r22, %r64, 16;
cvt.u16.u32 	%rs60, %r22;
LBB1_63:
@%p10 bra 	LBB1_67;
bra.uni 	LBB1_64;
LBB1_67:
cvt.rn.f16.f32 %rs61, %f13;
bra.uni 	LBB1_68;
LBB1_64:
mov.b32 	%r25, %f13;
and.b32  	%r66, %r25, 2147483647;
setp.gt.u32 	%p23, %r66, 2139095040;
@%p23 bra 	LBB1_66;
bra.uni 	LBB1_65;
LBB1_66:
shr.u32 	%r70, %r25, 16;
or.b32  	%r27, %r70, 64;
cvt.u16.u32 	%rs61, %r27;
bra.uni 	LBB1_68;
LBB1_65:
bfe.u32 	%r67, %r25, 16, 1;
add.s32 	%r68, %r25, %r67;
add.s32 	%r69, %r68, 32767;
shr.u32 	%r26, %r69, 16;
cvt.u16.u32 	%rs61, %r26;
LBB1_68:
@%p10 bra 	LBB1_72;
bra.uni 	LBB1_69;
LBB1_72:
cvt.rn.f16.f32 %rs62, %f15;
bra.uni 	LBB1_73;
LBB1_69:
mov.b32 	%r29, %f15;
and.b32  	%r71, %r29, 2147483647;
setp.gt.u32 	%p25, %r71, 2139095040;
@%p25 bra 	LBB1_71;
bra.uni 	LBB1_70;
LBB1_71:
shr.u32 	%r75, %r29, 16;
or.b32  	%r31, %r75, 64;
cvt.u16.u32 	%rs62, %r31;
bra.uni 	LBB1_73;
LBB1_70:
bfe.u32 	%r72, %r29, 16, 1;
add.s32 	%r73, %r29, %r72;
add.s32 	%r74, %r73, 32767;
shr.u32 	%r30, %r74, 16;
cvt.u16.u32 	%rs62, %r30;
LBB1_73:
add.s64 	%rd7, %rd1, %rd15;
setp.lt.u64 	%p26, %rd5, 8;
@%p26 bra 	LBB1_75;
bra.uni 	LBB1_74;
LBB1_75:
setp.eq.s64 	%p27, %rd5, 0;
@%p27 bra 	LBB1_77;
st.global.u16 	[%rd7], %rs3;
LBB1_77:
setp.lt.u64 	%p28, %rd5, 2;
@%p28 bra 	LBB1_79;
st.global.u16 	[%rd7+2], %rs56;
LBB1_79:
setp.lt.u64 	%p29, %rd5, 3;
@%p29 bra 	LBB1_81;
st.global.u16 	[%rd7+4], %rs57;
LBB1_81:
setp.lt.u64 	%p30, %rd5, 4;
@%p30 bra 	LBB1_83;
st.global.u16 	[%rd7+6], %rs58;
LBB1_83:
setp.lt.u64 	%p31, %rd5, 5;
@%p31 bra 	LBB1_85;
st.global.u16 	[%rd7+8], %rs59;
LBB1_85:
setp.lt.u64 	%p32, %rd5, 6;
@%p32 bra 	LBB1_87;
st.global.u16 	[%rd7+10], %rs60;
LBB1_87:
setp.lt.u64 	%p33, %rd5, 7;
@%p33 bra 	LBB1_89;
st.global.u16 	[%rd7+12], %rs61;
bra.uni 	LBB1_89;
LBB1_74:
cvt.u32.u16 	%r76, %rs3;
cvt.u32.u16 	%r77, %rs56;
shl.b32 	%r78, %r77, 16;
or.b32  	%r79, %r78, %r76;
cvt.u32.u16 	%r80, %rs57;
cvt.u32.u16 	%r81, %rs58;
shl.b32 	%r82, %r81, 16;
or.b32  	%r83, %r82, %r80;
cvt.u32.u16 	%r84, %rs59;
cvt.u32.u16 	%r85, %rs60;
shl.b32 	%r86, %r85, 16;
or.b32  	%r87, %r86, %r84;
cvt.u32.u16 	%r88, %rs61;
cvt.u32.u16 	%r89, %rs62;
shl.b32 	%r90, %r89, 16;
or.b32  	%r91, %r90, %r88;
st.global.v4.u32 	[%rd7], {%r79, %r83, %r87, %r91};
LBB1_89:
ret;
}
)ptx";
constexpr char k_cast_bf16[] = R"ptx(.visible .entry cast_bf16(
.param .u64 cast_bf16_param_0,
.param .u64 cast_bf16_param_1,
.param .u64 cast_bf16_param_2,
.param .u64 cast_bf16_param_3,
.param .u64 cast_bf16_param_4,
.param .u64 cast_bf16_param_5,
.param .u64 cast_bf16_param_6,
.param .u64 cast_bf16_param_7,
.param .u64 cast_bf16_param_8
)
{
.reg .pred 	%p<42>;
.reg .b16 	%rs<57>;
.reg .b32 	%r<117>;
.reg .f32 	%f<38>;
.reg .b64 	%rd<25>;
ld.param.u64 	%rd8, [cast_bf16_param_7];
mov.u32 	%r31, %ctaid.x;
mov.u32 	%r32, %ntid.x;
mul.wide.s32 	%rd12, %r31, %r32;
mov.u32 	%r33, %tid.x;
cvt.s64.s32 	%rd13, %r33;
add.s64 	%rd14, %rd12, %rd13;
shl.b64 	%rd3, %rd14, 3;
setp.ge.u64 	%p1, %rd3, %rd8;
@%p1 bra 	LBB2_86;
ld.param.u64 	%rd10, [cast_bf16_param_0];
cvta.to.global.u64 	%rd2, %rd10;
shl.b64 	%rd15, %rd3, 1;
add.s64 	%rd4, %rd2, %rd15;
or.b64  	%rd16, %rd3, 1;
setp.ge.u64 	%p2, %rd16, %rd8;
mov.f32 	%f15, 0f00000000;
mov.f32 	%f3, %f15;
@%p2 bra 	LBB2_3;
ld.global.u16 	%r34, [%rd4+2];
shl.b32 	%r35, %r34, 16;
mov.b32 	%f3, %r35;
LBB2_3:
or.b64  	%rd17, %rd3, 2;
setp.ge.u64 	%p3, %rd17, %rd8;
mov.f32 	%f5, %f15;
@%p3 bra 	LBB2_5;
ld.global.u16 	%r36, [%rd4+4];
shl.b32 	%r37, %r36, 16;
mov.b32 	%f5, %r37;
LBB2_5:
or.b64  	%rd18, %rd3, 3;
setp.ge.u64 	%p4, %rd18, %rd8;
mov.f32 	%f7, %f15;
@%p4 bra 	LBB2_7;
ld.global.u16 	%r38, [%rd4+6];
shl.b32 	%r39, %r38, 16;
mov.b32 	%f7, %r39;
LBB2_7:
or.b64  	%rd19, %rd3, 4;
setp.ge.u64 	%p5, %rd19, %rd8;
mov.f32 	%f9, %f15;
@%p5 bra 	LBB2_9;
ld.global.u16 	%r40, [%rd4+8];
shl.b32 	%r41, %r40, 16;
mov.b32 	%f9, %r41;
LBB2_9:
or.b64  	%rd20, %rd3, 5;
setp.ge.u64 	%p6, %rd20, %rd8;
mov.f32 	%f11, %f15;
@%p6 bra 	LBB2_11;
ld.global.u16 	%r42, [%rd4+10];
shl.b32 	%r43, %r42, 16;
mov.b32 	%f11, %r43;
LBB2_11:
ld.global.u16 	%rs1, [%rd4];
or.b64  	%rd21, %rd3, 6;
setp.ge.u64 	%p7, %rd21, %rd8;
mov.f32 	%f13, %f15;
@%p7 bra 	LBB2_13;
ld.global.u16 	%r44, [%rd4+12];
shl.b32 	%r45, %r44, 16;
mov.b32 	%f13, %r45;
LBB2_13:
cvt.u32.u16 	%r1, %rs1;
ld.param.u64 	%rd11, [cast_bf16_param_3];
ld.param.u64 	%rd9, [cast_bf16_param_8];
or.b64  	%rd22, %rd3, 7;
setp.ge.u64 	%p8, %rd22, %rd8;
@%p8 bra 	LBB2_15;
ld.global.u16 	%r46, [%rd4+14];
shl.b32 	%r47, %r46, 16;
mov.b32 	%f15, %r47;
LBB2_15:
shl.b32 	%r2, %r1, 16;
cvta.to.global.u64 	%rd1, %rd11;
sub.s64 	%rd5, %rd8, %rd3;
setp.ne.s64 	%p9, %rd9, 0;
@%p9 bra 	LBB2_33;
bra.uni 	LBB2_16;
LBB2_33:
setp.eq.s64 	%p10, %rd9, 1;
@%p10 bra 	LBB2_32;
bra.uni 	LBB2_34;
LBB2_32:
mov.b32 	%f23, %r2;
cvt.rn.f16.f32 %rs4, %f23;
bra.uni 	LBB2_35;
LBB2_16:
shl.b64 	%rd24, %rd3, 2;
add.s64 	%rd6, %rd1, %rd24;
setp.gt.u64 	%p34, %rd5, 7;
@%p34 bra 	LBB2_31;
setp.eq.s64 	%p35, %rd5, 0;
@%p35 bra 	LBB2_19;
st.global.u32 	[%rd6], %r2;
LBB2_19:
setp.lt.u64 	%p36, %rd5, 2;
@%p36 bra 	LBB2_21;
st.global.f32 	[%rd6+4], %f3;
LBB2_21:
setp.lt.u64 	%p37, %rd5, 3;
@%p37 bra 	LBB2_23;
st.global.f32 	[%rd6+8], %f5;
LBB2_23:
setp.lt.u64 	%p38, %rd5, 4;
@%p38 bra 	LBB2_25;
st.global.f32 	[%rd6+12], %f7;
LBB2_25:
setp.lt.u64 	%p39, %rd5, 5;
@%p39 bra 	LBB2_27;
st.global.f32 	[%rd6+16], %f9;
LBB2_27:
setp.lt.u64 	%p40, %rd5, 6;
@%p40 bra 	LBB2_29;
st.global.f32 	[%rd6+20], %f11;
LBB2_29:
setp.lt.u64 	%p41, %rd5, 7;
@%p41 bra 	LBB2_86;
st.global.f32 	[%rd6+24], %f13;
bra.uni 	LBB2_86;
LBB2_34:
and.b32  	%r48, %r1, 32767;
setp.gt.u32 	%p11, %r48, 32640;
or.b16  	%rs26, %rs1, 64;
selp.b16 	%rs4, %rs26, %rs1, %p11;
LBB2_35:
@%p10 bra 	LBB2_39;
bra.uni 	LBB2_36;
LBB2_39:
cvt.rn.f16.f32 %rs50, %f3;
bra.uni 	LBB2_40;
LBB2_36:
mov.b32 	%r3, %f3;
and.b32  	%r49, %r3, 2147483647;
setp.gt.u32 	%p13, %r49, 2139095040;
@%p13 bra 	LBB2_38;
bra.uni 	LBB2_37;
LBB2_38:
shr.u32 	%r53, %r3, 16;
or.b32  	%r5, %r53, 64;
cvt.u16.u32 	%rs50, %r5;
bra.uni 	LBB2_40;
LBB2_31:
mov.b32 	%r100, %f3;
mov.b32 	%r101, %f5;
mov.b32 	%r102, %f7;
st.global.v4.u32 	[%rd6], {%r2, %r100, %r101, %r102};
st.global.v4.f32 	[%rd6+16], {%f9, %f11, %f13, %f15};
bra.uni 	LBB2_86;
LBB2_37:
bfe.u32 	%r50, %r3, 16, 1;
add.s32 	%r51, %r3, %r50;
add.s32 	%r52, %r51, 32767;
shr.u32 	%r4, %r52, 16;
cvt.u16.u32 	%rs50, %r4;
LBB2_40:
@%p10 bra 	LBB2_44;
bra.uni 	LBB2_41;
LBB2_44:
cvt.rn.f16.f32 %rs51, %f5;
bra.uni 	LBB2_45;
LBB2_41:
mov.b32 	%r7, %f5;
and.b32  	%r54, %r7, 2147483647;
setp.gt.u32 	%p15, %r54, 2139095040;
@%p15 bra 	LBB2_43;
bra.uni 	LBB2_42;
LBB2_43:
shr.u32 	%r58, %r7, 16;
or.b32  	%r9, %r58, 64;
cvt.u16.u32 	%rs51, %r9;
bra.uni 	LBB2_45;
LBB2_42:
bfe.u32 	%r55, %r7, 16, 1;
add.s32 	%r56, %r7, %r55;
add.s32 	%r57, %r56, 32767;
shr.u32 	%r8, %r57, 16;
cvt.u16.u32 	%rs51, %r8;
LBB2_45:
@%p10 bra 	LBB2_49;
bra.uni 	LBB2_46;
LBB2_49:
cvt.rn.f16.f32 %rs52, %f7;
bra.uni 	LBB2_50;
LBB2_46:
mov.b32 	%r11, %f7;
and.b32  	%r59, %r11, 2147483647;
setp.gt.u32 	%p17, %r59, 2139095040;
@%p17 bra 	LBB2_48;
bra.uni 	LBB2_47;
LBB2_48:
shr.u32 	%r63, %r11, 16;
or.b32  	%r13, %r63, 64;
cvt.u16.u32 	%rs52, %r13;
bra.uni 	LBB2_50;
LBB2_47:
bfe.u32 	%r60, %r11, 16, 1;
add.s32 	%r61, %r11, %r60;
add.s32 	%r62, %r61, 32767;
shr.u32 	%r12, %r62, 16;
cvt.u16.u32 	%rs52, %r12;
LBB2_50:
@%p10 bra 	LBB2_54;
bra.uni 	LBB2_51;
LBB2_54:
cvt.rn.f16.f32 %rs53, %f9;
bra.uni 	LBB2_55;
LBB2_51:
mov.b32 	%r15, %f9;
and.b32  	%r64, %r15, 2147483647;
setp.gt.u32 	%p19, %r64, 2139095040;
@%p19 bra 	LBB2_53;
bra.uni 	LBB2_52;
LBB2_53:
shr.u32 	%r68, %r15, 16;
or.b32  	%r17, %r68, 64;
cvt.u16.u32 	%rs53, %r17;
bra.uni 	LBB2_55;
LBB2_52:
bfe.u32 	%r65, %r15, 16, 1;
add.s32 	%r66, %r15, %r65;
add.s32 	%r67, %r66, 32767;
shr.u32 	%r16, %r67, 16;
cvt.u16.u32 	%rs53, %r16;
LBB2_55:
@%p10 bra 	LBB2_59;
bra.uni 	LBB2_56;
LBB2_59:
cvt.rn.f16.f32 %rs54, %f11;
bra.uni 	LBB2_60;
LBB2_56:
mov.b32 	%r19, %f11;
and.b32  	%r69, %r19, 2147483647;
setp.gt.u32 	%p21, %r69, 2139095040;
@%p21 bra 	LBB2_58;
bra.uni 	LBB2_57;
LBB2_58:
shr.u32 	%r73, %r19, 16;
or.b32  	%r21, %r73, 64;
cvt.u16.u32 	%rs54, %r21;
bra.uni 	LBB2_60;
LBB2_57:
bfe.u32 	%r70, %r19, 16, 1;
add.s32 	%r71, %r19, %r70;
add.s32 	%r72, %r71, 32767;
shr.u32 	%r20, %r72, 16;
cvt.u16.u32 	%rs54, %r20;
LBB2_60:
@%p10 bra 	LBB2_64;
bra.uni 	LBB2_61;
LBB2_64:
cvt.rn.f16.f32 %rs55, %f13;
bra.uni 	LBB2_65;
LBB2_61:
mov.b32 	%r23, %f13;
and.b32  	%r74, %r23, 2147483647;
setp.gt.u32 	%p23, %r74, 2139095040;
@%p23 bra 	LBB2_63;
bra.uni 	LBB2_62;
LBB2_63:
shr.u32 	%r78, %r23, 16;
or.b32  	%r25, %r78, 64;
cvt.u16.u32 	%rs55, %r25;
bra.uni 	LBB2_65;
LBB2_62:
bfe.u32 	%r75, %r23, 16, 1;
add.s32 	%r76, %r23, %r75;
add.s32 	%r77, %r76, 32767;
shr.u32 	%r24, %r77, 16;
cvt.u16.u32 	%rs55, %r24;
LBB2_65:
@%p10 bra 	LBB2_69;
bra.uni 	LBB2_66;
LBB2_69:
cvt.rn.f16.f32 %rs56, %f15;
bra.uni 	LBB2_70;
LBB2_66:
mov.b32 	%r27, %f15;
and.b32  	%r79, %r27, 2147483647;
setp.gt.u32 	%p25, %r79, 2139095040;
@%p25 bra 	LBB2_68;
bra.uni 	LBB2_67;
LBB2_68:
shr.u32 	%r83, %r27, 16;
or.b32  	%r29, %r83, 64;
cvt.u16.u32 	%rs56, %r29;
bra.uni 	LBB2_70;
LBB2_67:
bfe.u32 	%r80, %r27, 16, 1;
add.s32 	%r81, %r27, %r80;
add.s32 	%r82, %r81, 32767;
shr.u32 	%r28, %r82, 16;
cvt.u16.u32 	%rs56, %r28;
LBB2_70:
add.s64 	%rd7, %rd1, %rd15;
setp.lt.u64 	%p26, %rd5, 8;
@%p26 bra 	LBB2_72;
bra.uni 	LBB2_71;
LBB2_72:
setp.eq.s64 	%p27, %rd5, 0;
@%p27 bra 	LBB2_74;
st.global.u16 	[%rd7], %rs4;
LBB2_74:
setp.lt.u64 	%p28, %rd5, 2;
@%p28 bra 	LBB2_76;
st.global.u16 	[%rd7+2], %rs50;
LBB2_76:
setp.lt.u64 	%p29, %rd5, 3;
@%p29 bra 	LBB2_78;
st.global.u16 	[%rd7+4], %rs51;
LBB2_78:
setp.lt.u64 	%p30, %rd5, 4;
@%p30 bra 	LBB2_80;
st.global.u16 	[%rd7+6], %rs52;
LBB2_80:
setp.lt.u64 	%p31, %rd5, 5;
@%p31 bra 	LBB2_82;
st.global.u16 	[%rd7+8], %rs53;
LBB2_82:
setp.lt.u64 	%p32, %rd5, 6;
@%p32 bra 	LBB2_84;
st.global.u16 	[%rd7+10], %rs54;
LBB2_84:
setp.lt.u64 	%p33, %rd5, 7;
@%p33 bra 	LBB2_86;
st.global.u16 	[%rd7+12], %rs55;
bra.uni 	LBB2_86;
LBB2_71:
cvt.u32.u16 	%r84, %rs4;
cvt.u32.u16 	%r85, %rs50;
shl.b32 	%r86, %r85, 16;
or.b32  	%r87, %r86, %r84;
cvt.u32.u16 	%r88, %rs51;
cvt.u32.u16 	%r89, %rs52;
shl.b32 	%r90, %r89, 16;
or.b32  	%r91, %r90, %r88;
cvt.u32.u16 	%r92, %rs53;
cvt.u32.u16 	%r93, %rs54;
shl.b32 	%r94, %r93, 16;
or.b32  	%r95, %r94, %r92;
cvt.u32.u16 	%r96, %rs55;
cvt.u32.u16 	%r97, %rs56;
shl.b32 	%r98, %r97, 16;
or.b32  	%r99, %r98, %r96;
st.global.v4.u32 	[%rd7], {%r87, %r91, %r95, %r99};
LBB2_86:
ret;
}
)ptx";
constexpr char k_cast_f8_e4m3fn[] = R"ptx(.visible .entry cast_f8_e4m3fn(
.param .u64 cast_f8_e4m3fn_param_0,
.param .u64 cast_f8_e4m3fn_param_1,
.param .u64 cast_f8_e4m3fn_param_2,
.param .u64 cast_f8_e4m3fn_param_3,
.param .u64 cast_f8_e4m3fn_param_4,
.param .u64 cast_f8_e4m3fn_param_5,
.param .u64 cast_f8_e4m3fn_param_6,
.param .u64 cast_f8_e4m3fn_param_7,
.param .u64 cast_f8_e4m3fn_param_8
)
{
.reg .pred 	%p<50>;
.reg .b16 	%rs<55>;
.reg .b32 	%r<189>;
.reg .f32 	%f<54>;
.reg .b64 	%rd<24>;
ld.param.u64 	%rd8, [cast_f8_e4m3fn_param_7];
mov.u32 	%r72, %ctaid.x;
mov.u32 	%r73, %ntid.x;
mul.wide.s32 	%rd12, %r72, %r73;
mov.u32 	%r74, %tid.x;
cvt.s64.s32 	%rd13, %r74;
add.s64 	%rd14, %rd12, %rd13;
shl.b64 	%rd3, %rd14, 3;
setp.ge.u64 	%p1, %rd3, %rd8;
@%p1 bra 	LBB3_113;
ld.param.u64 	%rd10, [cast_f8_e4m3fn_param_0];
cvta.to.global.u64 	%rd2, %rd10;
add.s64 	%rd4, %rd2, %rd3;
ld.global.u8 	%r75, [%rd4];
and.b32  	%r1, %r75, 127;
setp.ne.s32 	%p2, %r1, 127;
shl.b32 	%r2, %r75, 24;
@%p2 bra 	LBB3_3;
or.b32  	%r5, %r2, 2143289344;
bra.uni 	LBB3_4;
LBB3_3:
and.b32  	%r76, %r2, -2147483648;
shl.b32 	%r77, %r1, 20;
mov.b32 	%f16, %r77;
mul.rn.f32 	%f17, %f16, 0f7B800000;
mov.b32 	%r78, %f17;
or.b32  	%r5, %r76, %r78;
LBB3_4:
or.b64  	%rd15, %rd3, 1;
setp.ge.u64 	%p3, %rd15, %rd8;
mov.f32 	%f15, 0f00000000;
mov.f32 	%f3, %f15;
@%p3 bra 	LBB3_9;
ld.global.u8 	%r79, [%rd4+1];
and.b32  	%r6, %r79, 127;
setp.eq.s32 	%p4, %r6, 127;
shl.b32 	%r7, %r79, 24;
@%p4 bra 	LBB3_7;
bra.uni 	LBB3_6;
LBB3_7:
or.b32  	%r181, %r7, 2143289344;
bra.uni 	LBB3_8;
LBB3_6:
and.b32  	%r80, %r7, -2147483648;
shl.b32 	%r81, %r6, 20;
mov.b32 	%f19, %r81;
mul.rn.f32 	%f20, %f19, 0f7B800000;
mov.b32 	%r82, %f20;
or.b32  	%r181, %r80, %r82;
LBB3_8:
mov.b32 	%f3, %r181;
LBB3_9:
or.b64  	%rd16, %rd3, 2;
setp.ge.u64 	%p5, %rd16, %rd8;
mov.f32 	%f5, %f15;
@%p5 bra 	LBB3_14;
ld.global.u8 	%r83, [%rd4+2];
and.b32  	%r11, %r83, 127;
setp.eq.s32 	%p6, %r11, 127;
shl.b32 	%r12, %r83, 24;
@%p6 bra 	LBB3_12;
bra.uni 	LBB3_11;
LBB3_12:
or.b32  	%r182, %r12, 2143289344;
bra.uni 	LBB3_13;
LBB3_11:
and.b32  	%r84, %r12, -2147483648;
shl.b32 	%r85, %r11, 20;
mov.b32 	%f22, %r85;
mul.rn.f32 	%f23, %f22, 0f7B800000;
mov.b32 	%r86, %f23;
or.b32  	%r182, %r84, %r86;
LBB3_13:
mov.b32 	%f5, %r182;
LBB3_14:
or.b64  	%rd17, %rd3, 3;
setp.ge.u64 	%p7, %rd17, %rd8;
mov.f32 	%f7, %f15;
@%p7 bra 	LBB3_19;
ld.global.u8 	%r87, [%rd4+3];
and.b32  	%r16, %r87, 127;
setp.eq.s32 	%p8, %r16, 127;
shl.b32 	%r17, %r87, 24;
@%p8 bra 	LBB3_17;
bra.uni 	LBB3_16;
LBB3_17:
or.b32  	%r183, %r17, 2143289344;
bra.uni 	LBB3_18;
LBB3_16:
and.b32  	%r88, %r17, -2147483648;
shl.b32 	%r89, %r16, 20;
mov.b32 	%f25, %r89;
mul.rn.f32 	%f26, %f25, 0f7B800000;
mov.b32 	%r90, %f26;
or.b32  	%r183, %r88, %r90;
LBB3_18:
mov.b32 	%f7, %r183;
LBB3_19:
or.b64  	%rd18, %rd3, 4;
setp.ge.u64 	%p9, %rd18, %rd8;
mov.f32 	%f9, %f15;
@%p9 bra 	LBB3_24;
ld.global.u8 	%r91, [%rd4+4];
and.b32  	%r21, %r91, 127;
setp.eq.s32 	%p10, %r21, 127;
shl.b32 	%r22, %r91, 24;
@%p10 bra 	LBB3_22;
bra.uni 	LBB3_21;
LBB3_22:
or.b32  	%r184, %r22, 2143289344;
bra.uni 	LBB3_23;
LBB3_21:
and.b32  	%r92, %r22, -2147483648;
shl.b32 	%r93, %r21, 20;
mov.b32 	%f28, %r93;
mul.rn.f32 	%f29, %f28, 0f7B800000;
mov.b32 	%r94, %f29;
or.b32  	%r184, %r92, %r94;
LBB3_23:
mov.b32 	%f9, %r184;
LBB3_24:
or.b64  	%rd19, %rd3, 5;
setp.ge.u64 	%p11, %rd19, %rd8;
mov.f32 	%f11, %f15;
@%p11 bra 	LBB3_29;
ld.global.u8 	%r95, [%rd4+5];
and.b32  	%r26, %r95, 127;
setp.eq.s32 	%p12, %r26, 127;
shl.b32 	%r27, %r95, 24;
@%p12 bra 	LBB3_27;
bra.uni 	LBB3_26;
LBB3_27:
or.b32  	%r185, %r27, 2143289344;
bra.uni 	LBB3_28;
LBB3_26:
and.b32  	%r96, %r27, -2147483648;
shl.b32 	%r97, %r26, 20;
mov.b32 	%f31, %r97;
mul.rn.f32 	%f32, %f31, 0f7B800000;
mov.b32 	%r98, %f32;
or.b32  	%r185, %r96, %r98;
LBB3_28:
mov.b32 	%f11, %r185;
LBB3_29:
or.b64  	%rd20, %rd3, 6;
setp.ge.u64 	%p13, %rd20, %rd8;
mov.f32 	%f13, %f15;
@%p13 bra 	LBB3_34;
ld.global.u8 	%r99, [%rd4+6];
and.b32  	%r31, %r99, 127;
setp.eq.s32 	%p14, %r31, 127;
shl.b32 	%r32, %r99, 24;
@%p14 bra 	LBB3_32;
bra.uni 	LBB3_31;
LBB3_32:
or.b32  	%r186, %r32, 2143289344;
bra.uni 	LBB3_33;
LBB3_31:
and.b32  	%r100, %r32, -2147483648;
shl.b32 	%r101, %r31, 20;
mov.b32 	%f34, %r101;
mul.rn.f32 	%f35, %f34, 0f7B800000;
mov.b32 	%r102, %f35;
or.b32  	%r186, %r100, %r102;
LBB3_33:
mov.b32 	%f13, %r186;
LBB3_34:
ld.param.u64 	%rd11, [cast_f8_e4m3fn_param_3];
ld.param.u64 	%rd9, [cast_f8_e4m3fn_param_8];
or.b64  	%rd21, %rd3, 7;
setp.ge.u64 	%p15, %rd21, %rd8;
@%p15 bra 	LBB3_39;
ld.global.u8 	%r103, [%rd4+7];
and.b32  	%r36, %r103, 127;
setp.eq.s32 	%p16, %r36, 127;
shl.b32 	%r37, %r103, 24;
@%p16 bra 	LBB3_37;
bra.uni 	LBB3_36;
LBB3_37:
or.b32  	%r187, %r37, 2143289344;
bra.uni 	LBB3_38;
LBB3_36:
and.b32  	%r104, %r37, -2147483648;
shl.b32 	%r105, %r36, 20;
mov.b32 	%f37, %r105;
mul.rn.f32 	%f38, %f37, 0f7B800000;
mov.b32 	%r106, %f38;
or.b32  	%r187, %r104, %r106;
LBB3_38:
mov.b32 	%f15, %r187;
LBB3_39:
cvta.to.global.u64 	%rd1, %rd11;
sub.s64 	%rd5, %rd8, %rd3;
setp.ne.s64 	%p17, %rd9, 0;
@%p17 bra 	LBB3_57;
bra.uni 	LBB3_40;
LBB3_57:
setp.eq.s64 	%p18, %rd9, 1;
@%p18 bra 	LBB3_56;
bra.uni 	LBB3_58;
LBB3_56:
mov.b32 	%f39, %r5;
cvt.rn.f16.f32 %rs3, %f39;
bra.uni 	LBB3_62;
LBB3_40:
shl.b64 	%rd23, %rd3, 2;
add.s64 	%rd6, %rd1, %rd23;
setp.gt.u64 	%p42, %rd5, 7;
@%p42 bra 	LBB3_55;
setp.eq.s64 	%p43, %rd5, 0;
@%p43 bra 	LBB3_43;
st.global.u32 	[%rd6], %r5;
LBB3_43:
setp.lt.u64 	%p44, %rd5, 2;
@%p44 bra 	LBB3_45;
st.global.f32 	[%rd6+4], %f3;
LBB3_45:
setp.lt.u64 	%p45, %rd5, 3;
@%p45 bra 	LBB3_47;
st.global.f32 	[%rd6+8], %f5;
LBB3_47:
setp.lt.u64 	%p46, %rd5, 4;
@%p46 bra 	LBB3_49;
st.global.f32 	[%rd6+12], %f7;
LBB3_49:
setp.lt.u64 	%p47, %rd5, 5;
@%p47 bra 	LBB3_51;
st.global.f32 	[%rd6+16], %f9;
LBB3_51:
setp.lt.u64 	%p48, %rd5, 6;
@%p48 bra 	LBB3_53;
st.global.f32 	[%rd6+20], %f11;
LBB3_53:
setp.lt.u64 	%p49, %rd5, 7;
@%p49 bra 	LBB3_113;
st.global.f32 	[%rd6+24], %f13;
bra.uni 	LBB3_113;
LBB3_58:
and.b32  	%r107, %r5, 2147483647;
setp.lt.u32 	%p19, %r107, 2139095041;
@%p19 bra 	LBB3_60;
shr.u32 	%r111, %r5, 16;
or.b32  	%r188, %r111, 64;
bra.uni 	LBB3_61;
LBB3_55:
mov.b32 	%r163, %f3;
mov.b32 	%r164, %f5;
mov.b32 	%r165, %f7;
st.global.v4.u32 	[%rd6], {%r5, %r163, %r164, %r165};
st.global.v4.f32 	[%rd6+16], {%f9, %f11, %f13, %f15};
bra.uni 	LBB3_113;
LBB3_60:
bfe.u32 	%r108, %r5, 16, 1;
add.s32 	%r109, %r5, %r108;
add.s32 	%r110, %r109, 32767;
shr.u32 	%r188, %r110, 16;
LBB3_61:
cvt.u16.u32 	%rs3, %r188;
LBB3_62:
@%p18 bra 	LBB3_66;
bra.uni 	LBB3_63;
LBB3_66:
cvt.rn.f16.f32 %rs48, %f3;
bra.uni 	LBB3_67;
LBB3_63:
mov.b32 	%r44, %f3;
and.b32  	%r112, %r44, 2147483647;
setp.gt.u32 	%p21, %r112, 2139095040;
@%p21 bra 	LBB3_65;
bra.uni 	LBB3_64;
LBB3_65:
shr.u32 	%r116, %r44, 16;
or.b32  	%r46, %r116, 64;
cvt.u16.u32 	%rs48, %r46;
bra.uni 	LBB3_67;
LBB3_64:
bfe.u32 	%r113, %r44, 16, 1;
add.s32 	%r114, %r44, %r113;
add.s32 	%r115, %r114, 32767;
shr.u32 	%r45, %r115, 16;
cvt.u16.u32 	%rs48, %r45;
LBB3_67:
@%p18 bra 	LBB3_71;
bra.uni 	LBB3_68;
LBB3_71:
cvt.rn.f16.f32 %rs49, %f5;
bra.uni 	LBB3_72;
LBB3_68:
mov.b32 	%r48, %f5;
and.b32  	%r117, %r48, 2147483647;
setp.gt.u32 	%p23, %r117, 2139095040;
@%p23 bra 	LBB3_70;
bra.uni 	LBB3_69;
LBB3_70:
shr.u32 	%r121, %r48, 16;
or.b32  	%r50, %r121, 64;
cvt.u16.u32 	%rs49, %r50;
bra.uni 	LBB3_72;
LBB3_69:
bfe.u32 	%r118, %r48, 16, 1;
add.s32 	%r119, %r48, %r118;
add.s32 	%r120, %r119, 32767;
shr.u32 	%r49, %r120, 16;
cvt.u16.u32 	%rs49, %r49;
LBB3_72:
@%p18 bra 	LBB3_76;
bra.uni 	LBB3_73;
LBB3_76:
cvt.rn.f16.f32 %rs50, %f7;
bra.uni 	LBB3_77;
LBB3_73:
mov.b32 	%r52, %f7;
and.b32  	%r122, %r52, 2147483647;
setp.gt.u32 	%p25, %r122, 2139095040;
@%p25 bra 	LBB3_75;
bra.uni 	LBB3_74;
LBB3_75:
shr.u32 	%r126, %r52, 16;
or.b32  	%r54, %r126, 64;
cvt.u16.u32 	%rs50, %r54;
bra.uni 	LBB3_77;
LBB3_74:
bfe.u32 	%r123, %r52, 16, 1;
add.s32 	%r124, %r52, %r123;
add.s32 	%r125, %r124, 32767;
shr.u32 	%r53, %r125, 16;
cvt.u16.u32 	%rs50, %r53;
LBB3_77:
@%p18 bra 	LBB3_81;
bra.uni 	LBB3_78;
LBB3_81:
cvt.rn.f16.f32 %rs51, %f9;
bra.uni 	LBB3_82;
LBB3_78:
mov.b32 	%r56, %f9;
and.b32  	%r127, %r56, 2147483647;
setp.gt.u32 	%p27, %r127, 2139095040;
@%p27 bra 	LBB3_80;
bra.uni 	LBB3_79;
LBB3_80:
shr.u32 	%r131, %r56, 16;
or.b32  	%r58, %r131, 64;
cvt.u16.u32 	%rs51, %r58;
bra.uni 	LBB3_82;
LBB3_79:
bfe.u32 	%r128, %r56, 16, 1;
add.s32 	%r129, %r56, %r128;
add.s32 	%r130, %r129, 32767;
shr.u32 	%r57, %r130, 16;
cvt.u16.u32 	%rs51, %r57;
LBB3_82:
@%p18 bra 	LBB3_86;
bra.uni 	LBB3_83;
LBB3_86:
cvt.rn.f16.f32 %rs52, %f11;
bra.uni 	LBB3_87;
LBB3_83:
mov.b32 	%r60, %f11;
and.b32  	%r132, %r60, 2147483647;
setp.gt.u32 	%p29, %r132, 2139095040;
@%p29 bra 	LBB3_85;
bra.uni 	LBB3_84;
LBB3_85:
shr.u32 	%r136, %r60, 16;
or.b32  	%r62, %r136, 64;
cvt.u16.u32 	%rs52, %r62;
bra.uni 	LBB3_87;
LBB3_84:
bfe.u32 	%r133, %r60, 16, 1;
add.s32 	%r134, %r60, %r133;
add.s32 	%r135, %r134, 32767;
shr.u32 	%r61, %r135, 16;
cvt.u16.u32 	%rs52, %r61;
LBB3_87:
@%p18 bra 	LBB3_91;
bra.uni 	LBB3_88;
LBB3_91:
cvt.rn.f16.f32 %rs53, %f13;
bra.uni 	LBB3_92;
LBB3_88:
mov.b32 	%r64, %f13;
and.b32  	%r137, %r64, 2147483647;
setp.gt.u32 	%p31, %r137, 2139095040;
@%p31 bra 	LBB3_90;
bra.uni 	LBB3_89;
LBB3_90:
shr.u32 	%r141, %r64, 16;
or.b32  	%r66, %r141, 64;
cvt.u16.u32 	%rs53, %r66;
bra.uni 	LBB3_92;
LBB3_89:
bfe.u32 	%r138, %r64, 16, 1;
add.s32 	%r139, %r64, %r138;
add.s32 	%r140, %r139, 32767;
shr.u32 	%r65, %r140, 16;
cvt.u16.u32 	%rs53, %r65;
LBB3_92:
@%p18 bra 	LBB3_96;
bra.uni 	LBB3_93;
LBB3_96:
cvt.rn.f16.f32 %rs54, %f15;
bra.uni 	LBB3_97;
LBB3_93:
mov.b32 	%r68, %f15;
and.b32  	%r142, %r68, 2147483647;
setp.gt.u32 	%p33, %r142, 2139095040;
@%p33 bra 	LBB3_95;
bra.uni 	LBB3_94;
LBB3_95:
shr.u32 	%r146, %r68, 16;
or.b32  	%r70, %r146, 64;
cvt.u16.u32 	%rs54, %r70;
bra.uni 	LBB3_97;
LBB3_94:
bfe.u32 	%r143, %r68, 16, 1;
add.s32 	%r144, %r68, %r143;
add.s32 	%r145, %r144, 32767;
shr.u32 	%r69, %r145, 16;
cvt.u16.u32 	%rs54, %r69;
LBB3_97:
shl.b64 	%rd22, %rd3, 1;
add.s64 	%rd7, %rd1, %rd22;
setp.lt.u64 	%p34, %rd5, 8;
@%p34 bra 	LBB3_99;
bra.uni 	LBB3_98;
LBB3_99:
setp.eq.s64 	%p35, %rd5, 0;
@%p35 bra 	LBB3_101;
st.global.u16 	[%rd7], %rs3;
LBB3_101:
setp.lt.u64 	%p36, %rd5, 2;
@%p36 bra 	LBB3_103;
st.global.u16 	[%rd7+2], %rs48;
LBB3_103:
setp.lt.u64 	%p37, %rd5, 3;
@%p37 bra 	LBB3_105;
st.global.u16 	[%rd7+4], %rs49;
LBB3_105:
setp.lt.u64 	%p38, %rd5, 4;
@%p38 bra 	LBB3_107;
st.global.u16 	[%rd7+6], %rs50;
LBB3_107:
setp.lt.u64 	%p39, %rd5, 5;
@%p39 bra 	LBB3_109;
st.global.u16 	[%rd7+8], %rs51;
LBB3_109:
setp.lt.u64 	%p40, %rd5, 6;
@%p40 bra 	LBB3_111;
st.global.u16 	[%rd7+10], %rs52;
LBB3_111:
setp.lt.u64 	%p41, %rd5, 7;
@%p41 bra 	LBB3_113;
st.global.u16 	[%rd7+12], %rs53;
bra.uni 	LBB3_113;
LBB3_98:
cvt.u32.u16 	%r147, %rs3;
cvt.u32.u16 	%r148, %rs48;
shl.b32 	%r149, %r148, 16;
or.b32  	%r150, %r149, %r147;
cvt.u32.u16 	%r151, %rs49;
cvt.u32.u16 	%r152, %rs50;
shl.b32 	%r153, %r152, 16;
or.b32  	%r154, %r153, %r151;
cvt.u32.u16 	%r155, %rs51;
cvt.u32.u16 	%r156, %rs52;
shl.b32 	%r157, %r156, 16;
or.b32  	%r158, %r157, %r155;
cvt.u32.u16 	%r159, %rs53;
cvt.u32.u16 	%r160, %rs54;
shl.b32 	%r161, %r160, 16;
or.b32  	%r162, %r161, %r159;
st.global.v4.u32 	[%rd7], {%r150, %r154, %r158, %r162};
LBB3_113:
ret;
}
)ptx";
constexpr char k_cast_f8_e5m2[] = R"ptx(.visible .entry cast_f8_e5m2(
.param .u64 cast_f8_e5m2_param_0,
.param .u64 cast_f8_e5m2_param_1,
.param .u64 cast_f8_e5m2_param_2,
.param .u64 cast_f8_e5m2_param_3,
.param .u64 cast_f8_e5m2_param_4,
.param .u64 cast_f8_e5m2_param_5,
.param .u64 cast_f8_e5m2_param_6,
.param .u64 cast_f8_e5m2_param_7,
.param .u64 cast_f8_e5m2_param_8
)
{
.reg .pred 	%p<42>;
.reg .b16 	%rs<71>;
.reg .b32 	%r<107>;
.reg .f32 	%f<46>;
.reg .b64 	%rd<24>;
ld.param.u64 	%rd8, [cast_f8_e5m2_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd12, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd13, %r35;
add.s64 	%rd14, %rd12, %rd13;
shl.b64 	%rd3, %rd14, 3;
setp.ge.u64 	%p1, %rd3, %rd8;
@%p1 bra 	LBB4_89;
ld.param.u64 	%rd10, [cast_f8_e5m2_param_0];
cvta.to.global.u64 	%rd2, %rd10;
add.s64 	%rd4, %rd2, %rd3;
ld.global.u8 	%rs26, [%rd4];
shl.b16 	%rs25, %rs26, 8;
cvt.f32.f16 %f1, %rs25;
or.b64  	%rd15, %rd3, 1;
setp.ge.u64 	%p2, %rd15, %rd8;
mov.f32 	%f15, 0f00000000;
mov.f32 	%f3, %f15;
@%p2 bra 	LBB4_3;
ld.global.u8 	%rs28, [%rd4+1];
shl.b16 	%rs27, %rs28, 8;
cvt.f32.f16 %f3, %rs27;
LBB4_3:
or.b64  	%rd16, %rd3, 2;
setp.ge.u64 	%p3, %rd16, %rd8;
mov.f32 	%f5, %f15;
@%p3 bra 	LBB4_5;
ld.global.u8 	%rs30, [%rd4+2];
shl.b16 	%rs29, %rs30, 8;
cvt.f32.f16 %f5, %rs29;
LBB4_5:
or.b64  	%rd17, %rd3, 3;
setp.ge.u64 	%p4, %rd17, %rd8;
mov.f32 	%f7, %f15;
@%p4 bra 	LBB4_7;
ld.global.u8 	%rs32, [%rd4+3];
shl.b16 	%rs31, %rs32, 8;
cvt.f32.f16 %f7, %rs31;
LBB4_7:
or.b64  	%rd18, %rd3, 4;
setp.ge.u64 	%p5, %rd18, %rd8;
mov.f32 	%f9, %f15;
@%p5 bra 	LBB4_9;
ld.global.u8 	%rs34, [%rd4+4];
shl.b16 	%rs33, %rs34, 8;
cvt.f32.f16 %f9, %rs33;
LBB4_9:
or.b64  	%rd19, %rd3, 5;
setp.ge.u64 	%p6, %rd19, %rd8;
mov.f32 	%f11, %f15;
@%p6 bra 	LBB4_11;
ld.global.u8 	%rs36, [%rd4+5];
shl.b16 	%rs35, %rs36, 8;
cvt.f32.f16 %f11, %rs35;
LBB4_11:
or.b64  	%rd20, %rd3, 6;
setp.ge.u64 	%p7, %rd20, %rd8;
mov.f32 	%f13, %f15;
@%p7 bra 	LBB4_13;
ld.global.u8 	%rs38, [%rd4+6];
shl.b16 	%rs37, %rs38, 8;
cvt.f32.f16 %f13, %rs37;
LBB4_13:
ld.param.u64 	%rd11, [cast_f8_e5m2_param_3];
ld.param.u64 	%rd9, [cast_f8_e5m2_param_8];
or.b64  	%rd21, %rd3, 7;
setp.ge.u64 	%p8, %rd21, %rd8;
@%p8 bra 	LBB4_15;
ld.global.u8 	%rs40, [%rd4+7];
shl.b16 	%rs39, %rs40, 8;
cvt.f32.f16 %f15, %rs39;
LBB4_15:
cvta.to.global.u64 	%rd1, %rd11;
sub.s64 	%rd5, %rd8, %rd3;
setp.ne.s64 	%p9, %rd9, 0;
@%p9 bra 	LBB4_33;
bra.uni 	LBB4_16;
LBB4_33:
setp.eq.s64 	%p10, %rd9, 1;
@%p10 bra 	LBB4_32;
bra.uni 	LBB4_34;
LBB4_32:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB4_38;
LBB4_16:
shl.b64 	%rd23, %rd3, 2;
add.s64 	%rd6, %rd1, %rd23;
setp.gt.u64 	%p34, %rd5, 7;
@%p34 bra 	LBB4_31;
setp.eq.s64 	%p35, %rd5, 0;
@%p35 bra 	LBB4_19;
st.global.f32 	[%rd6], %f1;
LBB4_19:
setp.lt.u64 	%p36, %rd5, 2;
@%p36 bra 	LBB4_21;
st.global.f32 	[%rd6+4], %f3;
LBB4_21:
setp.lt.u64 	%p37, %rd5, 3;
@%p37 bra 	LBB4_23;
st.global.f32 	[%rd6+8], %f5;
LBB4_23:
setp.lt.u64 	%p38, %rd5, 4;
@%p38 bra 	LBB4_25;
st.global.f32 	[%rd6+12], %f7;
LBB4_25:
setp.lt.u64 	%p39, %rd5, 5;
@%p39 bra 	LBB4_27;
st.global.f32 	[%rd6+16], %f9;
LBB4_27:
setp.lt.u64 	%p40, %rd5, 6;
@%p40 bra 	LBB4_29;
st.global.f32 	[%rd6+20], %f11;
LBB4_29:
setp.lt.u64 	%p41, %rd5, 7;
@%p41 bra 	LBB4_89;
st.global.f32 	[%rd6+24], %f13;
bra.uni 	LBB4_89;
LBB4_34:
mov.b32 	%r1, %f1;
and.b32  	%r36, %r1, 2147483647;
setp.lt.u32 	%p11, %r36, 2139095041;
@%p11 bra 	LBB4_36;
shr.u32 	%r40, %r1, 16;
or.b32  	%r106, %r40, 64;
bra.uni 	LBB4_37;
LBB4_31:
st.global.v4.f32 	[%rd6], {%f1, %f3, %f5, %f7};
st.global.v4.f32 	[%rd6+16], {%f9, %f11, %f13, %f15};
bra.uni 	LBB4_89;
LBB4_36:
bfe.u32 	%r37, %r1, 16, 1;
add.s32 	%r38, %r1, %r37;
add.s32 	%r39, %r38, 32767;
shr.u32 	%r106, %r39, 16;
LBB4_37:
cvt.u16.u32 	%rs3, %r106;
LBB4_38:
@%p10 bra 	LBB4_42;
bra.uni 	LBB4_39;
LBB4_42:
cvt.rn.f16.f32 %rs64, %f3;
bra.uni 	LBB4_43;
LBB4_39:
mov.b32 	%r5, %f3;
and.b32  	%r41, %r5, 2147483647;
setp.gt.u32 	%p13, %r41, 2139095040;
@%p13 bra 	LBB4_41;
bra.uni 	LBB4_40;
LBB4_41:
shr.u32 	%r45, %r5, 16;
or.b32  	%r7, %r45, 64;
cvt.u16.u32 	%rs64, %r7;
bra.uni 	LBB4_43;
LBB4_40:
bfe.u32 	%r42, %r5, 16, 1;
add.s32 	%r43, %r5, %r42;
add.s32 	%r44, %r43, 32767;
shr.u32 	%r6, %r44, 16;
cvt.u16.u32 	%rs64, %r6;
LBB4_43:
@%p10 bra 	LBB4_47;
bra.uni 	LBB4_44;
LBB4_47:
cvt.rn.f16.f32 %rs65, %f5;
bra.uni 	LBB4_48;
LBB4_44:
mov.b32 	%r9, %f5;
and.b32  	%r46, %r9, 2147483647;
setp.gt.u32 	%p15, %r46, 2139095040;
@%p15 bra 	LBB4_46;
bra.uni 	LBB4_45;
LBB4_46:
shr.u32 	%r50, %r9, 16;
or.b32  	%r11, %r50, 64;
cvt.u16.u32 	%rs65, %r11;
bra.uni 	LBB4_48;
LBB4_45:
bfe.u32 	%r47, %r9, 16, 1;
add.s32 	%r48, %r9, %r47;
add.s32 	%r49, %r48, 32767;
shr.u32 	%r10, %r49, 16;
cvt.u16.u32 	%rs65, %r10;
LBB4_48:
@%p10 bra 	LBB4_52;
bra.uni 	LBB4_49;
LBB4_52:
cvt.rn.f16.f32 %rs66, %f7;
bra.uni 	LBB4_53;
LBB4_49:
mov.b32 	%r13, %f7;
and.b32  	%r51, %r13, 2147483647;
setp.gt.u32 	%p17, %r51, 2139095040;
@%p17 bra 	LBB4_51;
bra.uni 	LBB4_50;
LBB4_51:
shr.u32 	%r55, %r13, 16;
or.b32  	%r15, %r55, 64;
cvt.u16.u32 	%rs66, %r15;
bra.uni 	LBB4_53;
LBB4_50:
bfe.u32 	%r52, %r13, 16, 1;
add.s32 	%r53, %r13, %r52;
add.s32 	%r54, %r53, 32767;
shr.u32 	%r14, %r54, 16;
cvt.u16.u32 	%rs66, %r14;
LBB4_53:
@%p10 bra 	LBB4_57;
bra.uni 	LBB4_54;
LBB4_57:
cvt.rn.f16.f32 %rs67, %f9;
bra.uni 	LBB4_58;
LBB4_54:
mov.b32 	%r17, %f9;
and.b32  	%r56, %r17, 2147483647;
setp.gt.u32 	%p19, %r56, 2139095040;
@%p19 bra 	LBB4_56;
bra.uni 	LBB4_55;
LBB4_56:
shr.u32 	%r60, %r17, 16;
or.b32  	%r19, %r60, 64;
cvt.u16.u32 	%rs67, %r19;
bra.uni 	LBB4_58;
LBB4_55:
bfe.u32 	%r57, %r17, 16, 1;
add.s32 	%r58, %r17, %r57;
add.s32 	%r59, %r58, 32767;
shr.u32 	%r18, %r59, 16;
cvt.u16.u32 	%rs67, %r18;
LBB4_58:
@%p10 bra 	LBB4_62;
bra.uni 	LBB4_59;
LBB4_62:
cvt.rn.f16.f32 %rs68, %f11;
bra.uni 	LBB4_63;
LBB4_59:
mov.b32 	%r21, %f11;
and.b32  	%r61, %r21, 2147483647;
setp.gt.u32 	%p21, %r61, 2139095040;
@%p21 bra 	LBB4_61;
bra.uni 	LBB4_60;
LBB4_61:
shr.u32 	%r65, %r21, 16;
or.b32  	%r23, %r65, 64;
cvt.u16.u32 	%rs68, %r23;
bra.uni 	LBB4_63;
LBB4_60:
bfe.u32 	%r62, %r21, 16, 1;
add.s32 	%r63, %r21, %r62;
add.s32 	%r64, %r63, 32767;
shr.u32 	%r22, %r64, 16;
cvt.u16.u32 	%rs68, %r22;
LBB4_63:
@%p10 bra 	LBB4_67;
bra.uni 	LBB4_64;
LBB4_67:
cvt.rn.f16.f32 %rs69, %f13;
bra.uni 	LBB4_68;
LBB4_64:
mov.b32 	%r25, %f13;
and.b32  	%r66, %r25, 2147483647;
setp.gt.u32 	%p23, %r66, 2139095040;
@%p23 bra 	LBB4_66;
bra.uni 	LBB4_65;
LBB4_66:
shr.u32 	%r70, %r25, 16;
or.b32  	%r27, %r70, 64;
cvt.u16.u32 	%rs69, %r27;
bra.uni 	LBB4_68;
LBB4_65:
bfe.u32 	%r67, %r25, 16, 1;
add.s32 	%r68, %r25, %r67;
add.s32 	%r69, %r68, 32767;
shr.u32 	%r26, %r69, 16;
cvt.u16.u32 	%rs69, %r26;
LBB4_68:
@%p10 bra 	LBB4_72;
bra.uni 	LBB4_69;
LBB4_72:
cvt.rn.f16.f32 %rs70, %f15;
bra.uni 	LBB4_73;
LBB4_69:
mov.b32 	%r29, %f15;
and.b32  	%r71, %r29, 2147483647;
setp.gt.u32 	%p25, %r71, 2139095040;
@%p25 bra 	LBB4_71;
bra.uni 	LBB4_70;
LBB4_71:
shr.u32 	%r75, %r29, 16;
or.b32  	%r31, %r75, 64;
cvt.u16.u32 	%rs70, %r31;
bra.uni 	LBB4_73;
LBB4_70:
bfe.u32 	%r72, %r29, 16, 1;
add.s32 	%r73, %r29, %r72;
add.s32 	%r74, %r73, 32767;
shr.u32 	%r30, %r74, 16;
cvt.u16.u32 	%rs70, %r30;
LBB4_73:
shl.b64 	%rd22, %rd3, 1;
add.s64 	%rd7, %rd1, %rd22;
setp.lt.u64 	%p26, %rd5, 8;
@%p26 bra 	LBB4_75;
bra.uni 	LBB4_74;
LBB4_75:
setp.eq.s64 	%p27, %rd5, 0;
@%p27 bra 	LBB4_77;
st.global.u16 	[%rd7], %rs3;
LBB4_77:
setp.lt.u64 	%p28, %rd5, 2;
@%p28 bra 	LBB4_79;
st.global.u16 	[%rd7+2], %rs64;
LBB4_79:
setp.lt.u64 	%p29, %rd5, 3;
@%p29 bra 	LBB4_81;
st.global.u16 	[%rd7+4], %rs65;
LBB4_81:
setp.lt.u64 	%p30, %rd5, 4;
@%p30 bra 	LBB4_83;
st.global.u16 	[%rd7+6], %rs66;
LBB4_83:
setp.lt.u64 	%p31, %rd5, 5;
@%p31 bra 	LBB4_85;
st.global.u16 	[%rd7+8], %rs67;
LBB4_85:
setp.lt.u64 	%p32, %rd5, 6;
@%p32 bra 	LBB4_87;
st.global.u16 	[%rd7+10], %rs68;
LBB4_87:
setp.lt.u64 	%p33, %rd5, 7;
@%p33 bra 	LBB4_89;
st.global.u16 	[%rd7+12], %rs69;
bra.uni 	LBB4_89;
LBB4_74:
cvt.u32.u16 	%r76, %rs3;
cvt.u32.u16 	%r77, %rs64;
shl.b32 	%r78, %r77, 16;
or.b32  	%r79, %r78, %r76;
cvt.u32.u16 	%r80, %rs65;
cvt.u32.u16 	%r81, %rs66;
shl.b32 	%r82, %r81, 16;
or.b32  	%r83, %r82, %r80;
cvt.u32.u16 	%r84, %rs67;
cvt.u32.u16 	%r85, %rs68;
shl.b32 	%r86, %r85, 16;
or.b32  	%r87, %r86, %r84;
cvt.u32.u16 	%r88, %rs69;
cvt.u32.u16 	%r89, %rs70;
shl.b32 	%r90, %r89, 16;
or.b32  	%r91, %r90, %r88;
st.global.v4.u32 	[%rd7], {%r79, %r83, %r87, %r91};
LBB4_89:
ret;
}
)ptx";
constexpr char k_grid_f8_e4m3fn[] = R"ptx(.visible .entry grid_f8_e4m3fn(
.param .u64 grid_f8_e4m3fn_param_0,
.param .u64 grid_f8_e4m3fn_param_1,
.param .u64 grid_f8_e4m3fn_param_2,
.param .u64 grid_f8_e4m3fn_param_3,
.param .u64 grid_f8_e4m3fn_param_4,
.param .u64 grid_f8_e4m3fn_param_5,
.param .u64 grid_f8_e4m3fn_param_6,
.param .u64 grid_f8_e4m3fn_param_7,
.param .u64 grid_f8_e4m3fn_param_8
)
{
.reg .pred 	%p<53>;
.reg .b16 	%rs<57>;
.reg .b32 	%r<206>;
.reg .f32 	%f<50>;
.reg .b64 	%rd<68>;
ld.param.u64 	%rd36, [grid_f8_e4m3fn_param_7];
mov.u32 	%r73, %ctaid.x;
mov.u32 	%r74, %ntid.x;
mul.wide.s32 	%rd41, %r73, %r74;
mov.u32 	%r75, %tid.x;
cvt.s64.s32 	%rd42, %r75;
add.s64 	%rd43, %rd41, %rd42;
shl.b64 	%rd4, %rd43, 3;
setp.ge.u64 	%p1, %rd4, %rd36;
@%p1 bra 	LBB5_121;
ld.param.u64 	%rd35, [grid_f8_e4m3fn_param_6];
ld.param.u64 	%rd34, [grid_f8_e4m3fn_param_5];
ld.param.u64 	%rd33, [grid_f8_e4m3fn_param_4];
or.b64  	%rd44, %rd4, %rd34;
and.b64  	%rd45, %rd44, -4294967296;
setp.ne.s64 	%p2, %rd45, 0;
@%p2 bra 	LBB5_3;
bra.uni 	LBB5_2;
LBB5_3:
div.u64 	%rd63, %rd4, %rd34;
bra.uni 	LBB5_4;
LBB5_2:
cvt.u32.u64 	%r76, %rd34;
cvt.u32.u64 	%r77, %rd4;
div.u32 	%r78, %r77, %r76;
cvt.u64.u32 	%rd63, %r78;
LBB5_4:
and.b64  	%rd10, %rd35, 16777215;
shr.u64 	%rd47, %rd35, 24;
add.s64 	%rd12, %rd63, %rd33;
and.b64  	%rd48, %rd12, -4294967296;
setp.ne.s64 	%p3, %rd48, 0;
@%p3 bra 	LBB5_6;
bra.uni 	LBB5_5;
LBB5_6:
div.u64 	%rd64, %rd12, %rd10;
bra.uni 	LBB5_7;
LBB5_5:
cvt.u32.u64 	%r79, %rd10;
cvt.u32.u64 	%r80, %rd12;
div.u32 	%r81, %r80, %r79;
cvt.u64.u32 	%rd64, %r81;
LBB5_7:
mul.lo.s64 	%rd46, %rd63, %rd34;
and.b64  	%rd11, %rd47, 4294967295;
and.b64  	%rd49, %rd33, -4294967296;
setp.ne.s64 	%p4, %rd49, 0;
@%p4 bra 	LBB5_9;
bra.uni 	LBB5_8;
LBB5_9:
div.u64 	%rd65, %rd33, %rd10;
bra.uni 	LBB5_10;
LBB5_8:
cvt.u32.u64 	%r82, %rd10;
cvt.u32.u64 	%r83, %rd33;
div.u32 	%r84, %r83, %r82;
cvt.u64.u32 	%rd65, %r84;
LBB5_10:
sub.s64 	%rd9, %rd4, %rd46;
sub.s64 	%rd19, %rd64, %rd65;
add.s64 	%rd50, %rd34, %rd11;
add.s64 	%rd20, %rd50, -1;
and.b64  	%rd51, %rd20, -4294967296;
setp.ne.s64 	%p5, %rd51, 0;
@%p5 bra 	LBB5_12;
bra.uni 	LBB5_11;
LBB5_12:
div.u64 	%rd66, %rd20, %rd11;
bra.uni 	LBB5_13;
LBB5_11:
cvt.u32.u64 	%r85, %rd11;
cvt.u32.u64 	%r86, %rd20;
div.u32 	%r87, %r86, %r85;
cvt.u64.u32 	%rd66, %r87;
LBB5_13:
ld.param.u64 	%rd38, [grid_f8_e4m3fn_param_0];
ld.param.u64 	%rd40, [grid_f8_e4m3fn_param_1];
mul.lo.s64 	%rd24, %rd66, %rd19;
and.b64  	%rd52, %rd9, -4294967296;
setp.ne.s64 	%p6, %rd52, 0;
@%p6 bra 	LBB5_15;
bra.uni 	LBB5_14;
LBB5_15:
div.u64 	%rd67, %rd9, %rd11;
bra.uni 	LBB5_16;
LBB5_14:
cvt.u32.u64 	%r88, %rd11;
cvt.u32.u64 	%r89, %rd9;
div.u32 	%r90, %r89, %r88;
cvt.u64.u32 	%rd67, %r90;
LBB5_16:
cvta.to.global.u64 	%rd2, %rd40;
cvta.to.global.u64 	%rd3, %rd38;
add.s64 	%rd28, %rd24, %rd67;
setp.gt.u64 	%p7, %rd35, 72057594037927935;
@%p7 bra 	LBB5_18;
shl.b64 	%rd59, %rd28, 2;
add.s64 	%rd60, %rd2, %rd59;
ld.global.f32 	%f49, [%rd60];
bra.uni 	LBB5_23;
LBB5_18:
shr.u64 	%rd53, %rd35, 56;
cvt.u16.u64 	%rs25, %rd53;
setp.eq.s16 	%p8, %rs25, 2;
@%p8 bra 	LBB5_21;
setp.ne.s16 	%p9, %rs25, 1;
@%p9 bra 	LBB5_22;
shl.b64 	%rd56, %rd28, 1;
add.s64 	%rd57, %rd2, %rd56;
ld.global.u16 	%rs26, [%rd57];
cvt.f32.f16 %f49, %rs26;
bra.uni 	LBB5_23;
LBB5_21:
shl.b64 	%rd54, %rd28, 1;
add.s64 	%rd55, %rd2, %rd54;
ld.global.u16 	%r91, [%rd55];
shl.b32 	%r92, %r91, 16;
mov.b32 	%f49, %r92;
bra.uni 	LBB5_23;
LBB5_22:
add.s64 	%rd58, %rd2, %rd28;
ld.global.u8 	%r93, [%rd58];
setp.eq.s32 	%p10, %r93, 255;
setp.eq.s32 	%p11, %r93, 0;
shl.b32 	%r94, %r93, 23;
mov.b32 	%f15, %r94;
selp.f32 	%f16, 0f00400000, %f15, %p11;
selp.f32 	%f49, 0f7FC00000, %f16, %p10;
LBB5_23:
add.s64 	%rd29, %rd3, %rd4;
ld.global.u8 	%r95, [%rd29];
and.b32  	%r1, %r95, 127;
setp.ne.s32 	%p12, %r1, 127;
shl.b32 	%r2, %r95, 24;
@%p12 bra 	LBB5_25;
or.b32  	%r197, %r2, 2143289344;
bra.uni 	LBB5_26;
LBB5_25:
and.b32  	%r96, %r2, -2147483648;
shl.b32 	%r97, %r1, 20;
mov.b32 	%f17, %r97;
mul.rn.f32 	%f18, %f17, 0f7B800000;
mov.b32 	%r98, %f18;
or.b32  	%r197, %r96, %r98;
LBB5_26:
ld.global.u8 	%r99, [%rd29+1];
and.b32  	%r6, %r99, 127;
setp.eq.s32 	%p13, %r6, 127;
shl.b32 	%r7, %r99, 24;
@%p13 bra 	LBB5_28;
bra.uni 	LBB5_27;
LBB5_28:
or.b32  	%r198, %r7, 2143289344;
bra.uni 	LBB5_29;
LBB5_27:
and.b32  	%r100, %r7, -2147483648;
shl.b32 	%r101, %r6, 20;
mov.b32 	%f20, %r101;
mul.rn.f32 	%f21, %f20, 0f7B800000;
mov.b32 	%r102, %f21;
or.b32  	%r198, %r100, %r102;
LBB5_29:
ld.global.u8 	%r103, [%rd29+2];
and.b32  	%r11, %r103, 127;
setp.eq.s32 	%p14, %r11, 127;
shl.b32 	%r12, %r103, 24;
@%p14 bra 	LBB5_31;
bra.uni 	LBB5_30;
LBB5_31:
or.b32  	%r199, %r12, 2143289344;
bra.uni 	LBB5_32;
LBB5_30:
and.b32  	%r104, %r12, -2147483648;
shl.b32 	%r105, %r11, 20;
mov.b32 	%f23, %r105;
mul.rn.f32 	%f24, %f23, 0f7B800000;
mov.b32 	%r106, %f24;
or.b32  	%r199, %r104, %r106;
LBB5_32:
ld.global.u8 	%r107, [%rd29+3];
and.b32  	%r16, %r107, 127;
setp.eq.s32 	%p15, %r16, 127;
shl.b32 	%r17, %r107, 24;
@%p15 bra 	LBB5_34;
bra.uni 	LBB5_33;
LBB5_34:
or.b32  	%r200, %r17, 2143289344;
bra.uni 	LBB5_35;
LBB5_33:
and.b32  	%r108, %r17, -2147483648;
shl.b32 	%r109, %r16, 20;
mov.b32 	%f26, %r109;
mul.rn.f32 	%f27, %f26, 0f7B800000;
mov.b32 	%r110, %f27;
or.b32  	%r200, %r108, %r110;
LBB5_35:
ld.global.u8 	%r111, [%rd29+4];
and.b32  	%r21, %r111, 127;
setp.eq.s32 	%p16, %r21, 127;
shl.b32 	%r22, %r111, 24;
@%p16 bra 	LBB5_37;
bra.uni 	LBB5_36;
LBB5_37:
or.b32  	%r201, %r22, 2143289344;
bra.uni 	LBB5_38;
LBB5_36:
and.b32  	%r112, %r22, -2147483648;
shl.b32 	%r113, %r21, 20;
mov.b32 	%f29, %r113;
mul.rn.f32 	%f30, %f29, 0f7B800000;
mov.b32 	%r114, %f30;
or.b32  	%r201, %r112, %r114;
LBB5_38:
ld.global.u8 	%r115, [%rd29+5];
and.b32  	%r26, %r115, 127;
setp.eq.s32 	%p17, %r26, 127;
shl.b32 	%r27, %r115, 24;
@%p17 bra 	LBB5_40;
bra.uni 	LBB5_39;
LBB5_40:
or.b32  	%r202, %r27, 2143289344;
bra.uni 	LBB5_41;
LBB5_39:
and.b32  	%r116, %r27, -2147483648;
shl.b32 	%r117, %r26, 20;
mov.b32 	%f32, %r117;
mul.rn.f32 	%f33, %f32, 0f7B800000;
mov.b32 	%r118, %f33;
or.b32  	%r202, %r116, %r118;
LBB5_41:
ld.global.u8 	%r119, [%rd29+6];
and.b32  	%r31, %r119, 127;
setp.eq.s32 	%p18, %r31, 127;
shl.b32 	%r32, %r119, 24;
@%p18 bra 	LBB5_43;
bra.uni 	LBB5_42;
LBB5_43:
or.b32  	%r203, %r32, 2143289344;
bra.uni 	LBB5_44;
LBB5_42:
and.b32  	%r120, %r32, -2147483648;
shl.b32 	%r121, %r31, 20;
mov.b32 	%f35, %r121;
mul.rn.f32 	%f36, %f35, 0f7B800000;
mov.b32 	%r122, %f36;
or.b32  	%r203, %r120, %r122;
LBB5_44:
ld.param.u64 	%rd39, [grid_f8_e4m3fn_param_3];
mov.b32 	%f19, %r197;
mov.b32 	%f22, %r198;
mov.b32 	%f25, %r199;
mov.b32 	%f28, %r200;
mov.b32 	%f31, %r201;
mov.b32 	%f34, %r202;
ld.param.u64 	%rd37, [grid_f8_e4m3fn_param_8];
mov.b32 	%f37, %r203;
ld.global.u8 	%r123, [%rd29+7];
and.b32  	%r36, %r123, 127;
setp.eq.s32 	%p19, %r36, 127;
shl.b32 	%r37, %r123, 24;
@%p19 bra 	LBB5_46;
bra.uni 	LBB5_45;
LBB5_46:
or.b32  	%r204, %r37, 2143289344;
bra.uni 	LBB5_47;
LBB5_45:
and.b32  	%r124, %r37, -2147483648;
shl.b32 	%r125, %r36, 20;
mov.b32 	%f38, %r125;
mul.rn.f32 	%f39, %f38, 0f7B800000;
mov.b32 	%r126, %f39;
or.b32  	%r204, %r124, %r126;
LBB5_47:
cvta.to.global.u64 	%rd1, %rd39;
mul.rn.f32 	%f6, %f49, %f19;
mul.rn.f32 	%f7, %f49, %f22;
mul.rn.f32 	%f8, %f49, %f25;
mul.rn.f32 	%f9, %f49, %f28;
mul.rn.f32 	%f10, %f49, %f31;
mul.rn.f32 	%f11, %f49, %f34;
mul.rn.f32 	%f12, %f49, %f37;
mov.b32 	%f40, %r204;
mul.rn.f32 	%f13, %f49, %f40;
sub.s64 	%rd30, %rd36, %rd4;
setp.ne.s64 	%p20, %rd37, 0;
@%p20 bra 	LBB5_65;
bra.uni 	LBB5_48;
LBB5_65:
setp.eq.s64 	%p21, %rd37, 1;
@%p21 bra 	LBB5_64;
bra.uni 	LBB5_66;
LBB5_64:
cvt.rn.f16.f32 %rs3, %f6;
bra.uni 	LBB5_70;
LBB5_48:
shl.b64 	%rd62, %rd4, 2;
add.s64 	%rd31, %rd1, %rd62;
setp.gt.u64 	%p45, %rd30, 7;
@%p45 bra 	LBB5_63;
setp.eq.s64 	%p46, %rd30, 0;
@%p46 bra 	LBB5_51;
st.global.f32 	[%rd31], %f6;
LBB5_51:
setp.lt.u64 	%p47, %rd30, 2;
@%p47 bra 	LBB5_53;
st.global.f32 	[%rd31+4], %f7;
LBB5_53:
setp.lt.u64 	%p48, %rd30, 3;
@%p48 bra 	LBB5_55;
st.global.f32 	[%rd31+8], %f8;
LBB5_55:
setp.lt.u64 	%p49, %rd30, 4;
@%p49 bra 	LBB5_57;
st.global.f32 	[%rd31+12], %f9;
LBB5_57:
setp.lt.u64 	%p50, %rd30, 5;
@%p50 bra 	LBB5_59;
st.global.f32 	[%rd31+16], %f10;
LBB5_59:
setp.lt.u64 	%p51, %rd30, 6;
@%p51 bra 	LBB5_61;
st.global.f32 	[%rd31+20], %f11;
LBB5_61:
setp.lt.u64 	%p52, %rd30, 7;
@%p52 bra 	LBB5_121;
st.global.f32 	[%rd31+24], %f12;
bra.uni 	LBB5_121;
LBB5_66:
mov.b32 	%r41, %f6;
and.b32  	%r127, %r41, 2147483647;
setp.lt.u32 	%p22, %r127, 2139095041;
@%p22 bra 	LBB5_68;
shr.u32 	%r131, %r41, 16;
or.b32  	%r205, %r131, 64;
bra.uni 	LBB5_69;
LBB5_63:
st.global.v4.f32 	[%rd31], {%f6, %f7, %f8, %f9};
st.global.v4.f32 	[%rd31+16], {%f10, %f11, %f12, %f13};
bra.uni 	LBB5_121;
LBB5_68:
bfe.u32 	%r128, %r41, 16, 1;
add.s32 	%r129, %r41, %r128;
add.s32 	%r130, %r129, 32767;
shr.u32 	%r205, %r130, 16;
LBB5_69:
cvt.u16.u32 	%rs3, %r205;
LBB5_70:
@%p21 bra 	LBB5_74;
bra.uni 	LBB5_71;
LBB5_74:
cvt.rn.f16.f32 %rs50, %f7;
bra.uni 	LBB5_75;
LBB5_71:
mov.b32 	%r45, %f7;
and.b32  	%r132, %r45, 2147483647;
setp.gt.u32 	%p24, %r132, 2139095040;
@%p24 bra 	LBB5_73;
bra.uni 	LBB5_72;
LBB5_73:
shr.u32 	%r136, %r45, 16;
or.b32  	%r47, %r136, 64;
cvt.u16.u32 	%rs50, %r47;
bra.uni 	LBB5_75;
LBB5_72:
bfe.u32 	%r133, %r45, 16, 1;
add.s32 	%r134, %r45, %r133;
add.s32 	%r135, %r134, 32767;
shr.u32 	%r46, %r135, 16;
cvt.u16.u32 	%rs50, %r46;
LBB5_75:
@%p21 bra 	LBB5_79;
bra.uni 	LBB5_76;
LBB5_79:
cvt.rn.f16.f32 %rs51, %f8;
bra.uni 	LBB5_80;
LBB5_76:
mov.b32 	%r49, %f8;
and.b32  	%r137, %r49, 2147483647;
setp.gt.u32 	%p26, %r137, 2139095040;
@%p26 bra 	LBB5_78;
bra.uni 	LBB5_77;
LBB5_78:
shr.u32 	%r141, %r49, 16;
or.b32  	%r51, %r141, 64;
cvt.u16.u32 	%rs51, %r51;
bra.uni 	LBB5_80;
LBB5_77:
bfe.u32 	%r138, %r49, 16, 1;
add.s32 	%r139, %r49, %r138;
add.s32 	%r140, %r139, 32767;
shr.u32 	%r50, %r140, 16;
cvt.u16.u32 	%rs51, %r50;
LBB5_80:
@%p21 bra 	LBB5_84;
bra.uni 	LBB5_81;
LBB5_84:
cvt.rn.f16.f32 %rs52, %f9;
bra.uni 	LBB5_85;
LBB5_81:
mov.b32 	%r53, %f9;
and.b32  	%r142, %r53, 2147483647;
setp.gt.u32 	%p28, %r142, 2139095040;
@%p28 bra 	LBB5_83;
bra.uni 	LBB5_82;
LBB5_83:
shr.u32 	%r146, %r53, 16;
or.b32  	%r55, %r146, 64;
cvt.u16.u32 	%rs52, %r55;
bra.uni 	LBB5_85;
LBB5_82:
bfe.u32 	%r143, %r53, 16, 1;
add.s32 	%r144, %r53, %r143;
add.s32 	%r145, %r144, 32767;
shr.u32 	%r54, %r145, 16;
cvt.u16.u32 	%rs52, %r54;
LBB5_85:
@%p21 bra 	LBB5_89;
bra.uni 	LBB5_86;
LBB5_89:
cvt.rn.f16.f32 %rs53, %f10;
bra.uni 	LBB5_90;
LBB5_86:
mov.b32 	%r57, %f10;
and.b32  	%r147, %r57, 2147483647;
setp.gt.u32 	%p30, %r147, 2139095040;
@%p30 bra 	LBB5_88;
bra.uni 	LBB5_87;
LBB5_88:
shr.u32 	%r151, %r57, 16;
or.b32  	%r59, %r151, 64;
cvt.u16.u32 	%rs53, %r59;
bra.uni 	LBB5_90;
LBB5_87:
bfe.u32 	%r148, %r57, 16, 1;
add.s32 	%r149, %r57, %r148;
add.s32 	%r150, %r149, 32767;
shr.u32 	%r58, %r150, 16;
cvt.u16.u32 	%rs53, %r58;
LBB5_90:
@%p21 bra 	LBB5_94;
bra.uni 	LBB5_91;
LBB5_94:
cvt.rn.f16.f32 %rs54, %f11;
bra.uni 	LBB5_95;
LBB5_91:
mov.b32 	%r61, %f11;
and.b32  	%r152, %r61, 2147483647;
setp.gt.u32 	%p32, %r152, 2139095040;
@%p32 bra 	LBB5_93;
bra.uni 	LBB5_92;
LBB5_93:
shr.u32 	%r156, %r61, 16;
or.b32  	%r63, %r156, 64;
cvt.u16.u32 	%rs54, %r63;
bra.uni 	LBB5_95;
LBB5_92:
bfe.u32 	%r153, %r61, 16, 1;
add.s32 	%r154, %r61, %r153;
add.s32 	%r155, %r154, 32767;
shr.u32 	%r62, %r155, 16;
cvt.u16.u32 	%rs54, %r62;
LBB5_95:
@%p21 bra 	LBB5_99;
bra.uni 	LBB5_96;
LBB5_99:
cvt.rn.f16.f32 %rs55, %f12;
bra.uni 	LBB5_100;
LBB5_96:
mov.b32 	%r65, %f12;
and.b32  	%r157, %r65, 2147483647;
setp.gt.u32 	%p34, %r157, 2139095040;
@%p34 bra 	LBB5_98;
bra.uni 	LBB5_97;
LBB5_98:
shr.u32 	%r161, %r65, 16;
or.b32  	%r67, %r161, 64;
cvt.u16.u32 	%rs55, %r67;
bra.uni 	LBB5_100;
LBB5_97:
bfe.u32 	%r158, %r65, 16, 1;
add.s32 	%r159, %r65, %r158;
add.s32 	%r160, %r159, 32767;
shr.u32 	%r66, %r160, 16;
cvt.u16.u32 	%rs55, %r66;
LBB5_100:
@%p21 bra 	LBB5_104;
bra.uni 	LBB5_101;
LBB5_104:
cvt.rn.f16.f32 %rs56, %f13;
bra.uni 	LBB5_105;
LBB5_101:
mov.b32 	%r69, %f13;
and.b32  	%r162, %r69, 2147483647;
setp.gt.u32 	%p36, %r162, 2139095040;
@%p36 bra 	LBB5_103;
bra.uni 	LBB5_102;
LBB5_103:
shr.u32 	%r166, %r69, 16;
or.b32  	%r71, %r166, 64;
cvt.u16.u32 	%rs56, %r71;
bra.uni 	LBB5_105;
LBB5_102:
bfe.u32 	%r163, %r69, 16, 1;
add.s32 	%r164, %r69, %r163;
add.s32 	%r165, %r164, 32767;
shr.u32 	%r70, %r165, 16;
cvt.u16.u32 	%rs56, %r70;
LBB5_105:
shl.b64 	%rd61, %rd4, 1;
add.s64 	%rd32, %rd1, %rd61;
setp.lt.u64 	%p37, %rd30, 8;
@%p37 bra 	LBB5_107;
bra.uni 	LBB5_106;
LBB5_107:
setp.eq.s64 	%p38, %rd30, 0;
@%p38 bra 	LBB5_109;
st.global.u16 	[%rd32], %rs3;
LBB5_109:
setp.lt.u64 	%p39, %rd30, 2;
@%p39 bra 	LBB5_111;
st.global.u16 	[%rd32+2], %rs50;
LBB5_111:
setp.lt.u64 	%p40, %rd30, 3;
@%p40 bra 	LBB5_113;
st.global.u16 	[%rd32+4], %rs51;
LBB5_113:
setp.lt.u64 	%p41, %rd30, 4;
@%p41 bra 	LBB5_115;
st.global.u16 	[%rd32+6], %rs52;
LBB5_115:
setp.lt.u64 	%p42, %rd30, 5;
@%p42 bra 	LBB5_117;
st.global.u16 	[%rd32+8], %rs53;
LBB5_117:
setp.lt.u64 	%p43, %rd30, 6;
@%p43 bra 	LBB5_119;
st.global.u16 	[%rd32+10], %rs54;
LBB5_119:
setp.lt.u64 	%p44, %rd30, 7;
@%p44 bra 	LBB5_121;
st.global.u16 	[%rd32+12], %rs55;
bra.uni 	LBB5_121;
LBB5_106:
cvt.u32.u16 	%r167, %rs3;
cvt.u32.u16 	%r168, %rs50;
shl.b32 	%r169, %r168, 16;
or.b32  	%r170, %r169, %r167;
cvt.u32.u16 	%r171, %rs51;
cvt.u32.u16 	%r172, %rs52;
shl.b32 	%r173, %r172, 16;
or.b32  	%r174, %r173, %r171;
cvt.u32.u16 	%r175, %rs53;
cvt.u32.u16 	%r176, %rs54;
shl.b32 	%r177, %r176, 16;
or.b32  	%r178, %r177, %r175;
cvt.u32.u16 	%r179, %rs55;
cvt.u32.u16 	%r180, %rs56;
shl.b32 	%r181, %r180, 16;
or.b32  	%r182, %r181, %r179;
st.global.v4.u32 	[%rd32], {%r170, %r174, %r178, %r182};
LBB5_121:
ret;
}
)ptx";
constexpr char k_mcf_q8[] = R"ptx(.visible .entry mcf_q8(
.param .u64 mcf_q8_param_0,
.param .u64 mcf_q8_param_1,
.param .u64 mcf_q8_param_2,
.param .u64 mcf_q8_param_3,
.param .u64 mcf_q8_param_4,
.param .u64 mcf_q8_param_5,
.param .u64 mcf_q8_param_6,
.param .u64 mcf_q8_param_7,
.param .u64 mcf_q8_param_8
)
{
.reg .pred 	%p<36>;
.reg .b16 	%rs<59>;
.reg .b32 	%r<126>;
.reg .f32 	%f<26>;
.reg .b64 	%rd<61>;
ld.param.u64 	%rd14, [mcf_q8_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd19, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd20, %r35;
add.s64 	%rd21, %rd19, %rd20;
shl.b64 	%rd4, %rd21, 3;
setp.ge.u64 	%p1, %rd4, %rd14;
@%p1 bra 	LBB6_78;
ld.param.u64 	%rd15, [mcf_q8_param_8];
ld.param.u64 	%rd13, [mcf_q8_param_6];
ld.param.u64 	%rd12, [mcf_q8_param_5];
ld.param.u64 	%rd16, [mcf_q8_param_0];
ld.param.u64 	%rd17, [mcf_q8_param_3];
ld.param.u64 	%rd18, [mcf_q8_param_1];
cvta.to.global.u64 	%rd2, %rd18;
cvta.to.global.u64 	%rd3, %rd16;
or.b64  	%rd22, %rd4, %rd12;
and.b64  	%rd23, %rd22, -4294967296;
setp.ne.s64 	%p2, %rd23, 0;
@%p2 bra 	LBB6_3;
bra.uni 	LBB6_2;
LBB6_3:
div.u64 	%rd60, %rd4, %rd12;
bra.uni 	LBB6_4;
LBB6_2:
cvt.u32.u64 	%r36, %rd12;
cvt.u32.u64 	%r37, %rd4;
div.u32 	%r38, %r37, %r36;
cvt.u64.u32 	%rd60, %r38;
LBB6_4:
cvta.to.global.u64 	%rd1, %rd17;
mul.lo.s64 	%rd24, %rd60, %rd12;
sub.s64 	%rd25, %rd4, %rd24;
shr.u64 	%rd26, %rd25, 5;
mul.lo.s64 	%rd27, %rd60, %rd13;
shl.b64 	%rd28, %rd27, 5;
add.s64 	%rd29, %rd3, %rd28;
add.s64 	%rd30, %rd26, %rd27;
shl.b64 	%rd31, %rd30, 1;
add.s64 	%rd32, %rd2, %rd31;
ld.global.u8 	%rs26, [%rd32];
ld.global.u8 	%rs27, [%rd32+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
and.b64  	%rd33, %rd25, 2305843009213693951;
add.s64 	%rd34, %rd29, %rd33;
ld.global.u8 	%rd35, [%rd34];
ld.global.u8 	%r39, [%rd34+1];
mul.wide.u32 	%rd36, %r39, 256;
or.b64  	%rd37, %rd36, %rd35;
ld.global.u8 	%r40, [%rd34+2];
mul.wide.u32 	%rd38, %r40, 65536;
or.b64  	%rd39, %rd37, %rd38;
ld.global.u8 	%r41, [%rd34+3];
mul.wide.u32 	%rd40, %r41, 16777216;
or.b64  	%rd41, %rd39, %rd40;
ld.global.u8 	%rd42, [%rd34+4];
shl.b64 	%rd43, %rd42, 32;
or.b64  	%rd44, %rd43, %rd41;
ld.global.u8 	%rd45, [%rd34+5];
shl.b64 	%rd46, %rd45, 40;
or.b64  	%rd47, %rd46, %rd44;
ld.global.u8 	%rd48, [%rd34+6];
shl.b64 	%rd49, %rd48, 48;
or.b64  	%rd50, %rd49, %rd47;
ld.global.u8 	%rd51, [%rd34+7];
shl.b64 	%rd52, %rd51, 56;
or.b64  	%rd53, %rd52, %rd50;
cvt.u32.u64 	%r42, %rd41;
cvt.s32.s8 	%r43, %r42;
cvt.rn.f32.s32 	%f10, %r43;
mul.rn.f32 	%f1, %f9, %f10;
bfe.s32 	%r44, %r42, 8, 8;
cvt.rn.f32.s32 	%f11, %r44;
mul.rn.f32 	%f2, %f9, %f11;
bfe.s32 	%r45, %r42, 16, 8;
cvt.rn.f32.s32 	%f12, %r45;
mul.rn.f32 	%f3, %f9, %f12;
shr.s32 	%r46, %r42, 24;
cvt.rn.f32.s32 	%f13, %r46;
mul.rn.f32 	%f4, %f9, %f13;
shr.u64 	%rd54, %rd44, 8;
cvt.u32.u64 	%r47, %rd54;
shr.s32 	%r48, %r47, 24;
cvt.rn.f32.s32 	%f14, %r48;
mul.rn.f32 	%f5, %f9, %f14;
shr.u64 	%rd55, %rd47, 16;
cvt.u32.u64 	%r49, %rd55;
shr.s32 	%r50, %r49, 24;
cvt.rn.f32.s32 	%f15, %r50;
mul.rn.f32 	%f6, %f9, %f15;
shr.u64 	%rd56, %rd50, 24;
cvt.u32.u64 	%r51, %rd56;
shr.s32 	%r52, %r51, 24;
cvt.rn.f32.s32 	%f16, %r52;
mul.rn.f32 	%f7, %f9, %f16;
shr.u64 	%rd57, %rd53, 32;
cvt.u32.u64 	%r53, %rd57;
shr.s32 	%r54, %r53, 24;
cvt.rn.f32.s32 	%f17, %r54;
mul.rn.f32 	%f8, %f9, %f17;
sub.s64 	%rd9, %rd14, %rd4;
setp.ne.s64 	%p3, %rd15, 0;
@%p3 bra 	LBB6_22;
bra.uni 	LBB6_5;
LBB6_22:
setp.eq.s64 	%p4, %rd15, 1;
@%p4 bra 	LBB6_21;
bra.uni 	LBB6_23;
LBB6_21:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB6_27;
LBB6_5:
shl.b64 	%rd59, %rd4, 2;
add.s64 	%rd10, %rd1, %rd59;
setp.gt.u64 	%p28, %rd9, 7;
@%p28 bra 	LBB6_20;
setp.eq.s64 	%p29, %rd9, 0;
@%p29 bra 	LBB6_8;
st.global.f32 	[%rd10], %f1;
LBB6_8:
setp.lt.u64 	%p30, %rd9, 2;
@%p30 bra 	LBB6_10;
st.global.f32 	[%rd10+4], %f2;
LBB6_10:
setp.lt.u64 	%p31, %rd9, 3;
@%p31 bra 	LBB6_12;
st.global.f32 	[%rd10+8], %f3;
LBB6_12:
setp.lt.u64 	%p32, %rd9, 4;
@%p32 bra 	LBB6_14;
st.global.f32 	[%rd10+12], %f4;
LBB6_14:
setp.lt.u64 	%p33, %rd9, 5;
@%p33 bra 	LBB6_16;
st.global.f32 	[%rd10+16], %f5;
LBB6_16:
setp.lt.u64 	%p34, %rd9, 6;
@%p34 bra 	LBB6_18;
st.global.f32 	[%rd10+20], %f6;
LBB6_18:
setp.lt.u64 	%p35, %rd9, 7;
@%p35 bra 	LBB6_78;
st.global.f32 	[%rd10+24], %f7;
bra.uni 	LBB6_78;
LBB6_23:
mov.b32 	%r1, %f1;
and.b32  	%r55, %r1, 2147483647;
setp.lt.u32 	%p5, %r55, 2139095041;
@%p5 bra 	LBB6_25;
shr.u32 	%r59, %r1, 16;
or.b32  	%r125, %r59, 64;
bra.uni 	LBB6_26;
LBB6_20:
st.global.v4.f32 	[%rd10], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd10+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB6_78;
LBB6_25:
bfe.u32 	%r56, %r1, 16, 1;
add.s32 	%r57, %r1, %r56;
add.s32 	%r58, %r57, 32767;
shr.u32 	%r125, %r58, 16;
LBB6_26:
cvt.u16.u32 	%rs3, %r125;
LBB6_27:
@%p4 bra 	LBB6_31;
bra.uni 	LBB6_28;
LBB6_31:
cvt.rn.f16.f32 %rs52, %f2;
bra.uni 	LBB6_32;
LBB6_28:
mov.b32 	%r5, %f2;
and.b32  	%r60, %r5, 2147483647;
setp.gt.u32 	%p7, %r60, 2139095040;
@%p7 bra 	LBB6_30;
bra.uni 	LBB6_29;
LBB6_30:
shr.u32 	%r64, %r5, 16;
or.b32  	%r7, %r64, 64;
cvt.u16.u32 	%rs52, %r7;
bra.uni 	LBB6_32;
LBB6_29:
bfe.u32 	%r61, %r5, 16, 1;
add.s32 	%r62, %r5, %r61;
add.s32 	%r63, %r62, 32767;
shr.u32 	%r6, %r63, 16;
cvt.u16.u32 	%rs52, %r6;
LBB6_32:
@%p4 bra 	LBB6_36;
bra.uni 	LBB6_33;
LBB6_36:
cvt.rn.f16.f32 %rs53, %f3;
bra.uni 	LBB6_37;
LBB6_33:
mov.b32 	%r9, %f3;
and.b32  	%r65, %r9, 2147483647;
setp.gt.u32 	%p9, %r65, 2139095040;
@%p9 bra 	LBB6_35;
bra.uni 	LBB6_34;
LBB6_35:
shr.u32 	%r69, %r9, 16;
or.b32  	%r11, %r69, 64;
cvt.u16.u32 	%rs53, %r11;
bra.uni 	LBB6_37;
LBB6_34:
bfe.u32 	%r66, %r9, 16, 1;
add.s32 	%r67, %r9, %r66;
add.s32 	%r68, %r67, 32767;
shr.u32 	%r10, %r68, 16;
cvt.u16.u32 	%rs53, %r10;
LBB6_37:
@%p4 bra 	LBB6_41;
bra.uni 	LBB6_38;
LBB6_41:
cvt.rn.f16.f32 %rs54, %f4;
bra.uni 	LBB6_42;
LBB6_38:
mov.b32 	%r13, %f4;
and.b32  	%r70, %r13, 2147483647;
setp.gt.u32 	%p11, %r70, 2139095040;
@%p11 bra 	LBB6_40;
bra.uni 	LBB6_39;
LBB6_40:
shr.u32 	%r74, %r13, 16;
or.b32  	%r15, %r74, 64;
cvt.u16.u32 	%rs54, %r15;
bra.uni 	LBB6_42;
LBB6_39:
bfe.u32 	%r71, %r13, 16, 1;
add.s32 	%r72, %r13, %r71;
add.s32 	%r73, %r72, 32767;
shr.u32 	%r14, %r73, 16;
cvt.u16.u32 	%rs54, %r14;
LBB6_42:
@%p4 bra 	LBB6_46;
bra.uni 	LBB6_43;
LBB6_46:
cvt.rn.f16.f32 %rs55, %f5;
bra.uni 	LBB6_47;
LBB6_43:
mov.b32 	%r17, %f5;
and.b32  	%r75, %r17, 2147483647;
setp.gt.u32 	%p13, %r75, 2139095040;
@%p13 bra 	LBB6_45;
bra.uni 	LBB6_44;
LBB6_45:
shr.u32 	%r79, %r17, 16;
or.b32  	%r19, %r79, 64;
cvt.u16.u32 	%rs55, %r19;
bra.uni 	LBB6_47;
LBB6_44:
bfe.u32 	%r76, %r17, 16, 1;
add.s32 	%r77, %r17, %r76;
add.s32 	%r78, %r77, 32767;
shr.u32 	%r18, %r78, 16;
cvt.u16.u32 	%rs55, %r18;
LBB6_47:
@%p4 bra 	LBB6_51;
bra.uni 	LBB6_48;
LBB6_51:
cvt.rn.f16.f32 %rs56, %f6;
bra.uni 	LBB6_52;
LBB6_48:
mov.b32 	%r21, %f6;
and.b32  	%r80, %r21, 2147483647;
setp.gt.u32 	%p15, %r80, 2139095040;
@%p15 bra 	LBB6_50;
bra.uni 	LBB6_49;
LBB6_50:
shr.u32 	%r84, %r21, 16;
or.b32  	%r23, %r84, 64;
cvt.u16.u32 	%rs56, %r23;
bra.uni 	LBB6_52;
LBB6_49:
bfe.u32 	%r81, %r21, 16, 1;
add.s32 	%r82, %r21, %r81;
add.s32 	%r83, %r82, 32767;
shr.u32 	%r22, %r83, 16;
cvt.u16.u32 	%rs56, %r22;
LBB6_52:
@%p4 bra 	LBB6_56;
bra.uni 	LBB6_53;
LBB6_56:
cvt.rn.f16.f32 %rs57, %f7;
bra.uni 	LBB6_57;
LBB6_53:
mov.b32 	%r25, %f7;
and.b32  	%r85, %r25, 2147483647;
setp.gt.u32 	%p17, %r85, 2139095040;
@%p17 bra 	LBB6_55;
bra.uni 	LBB6_54;
LBB6_55:
shr.u32 	%r89, %r25, 16;
or.b32  	%r27, %r89, 64;
cvt.u16.u32 	%rs57, %r27;
bra.uni 	LBB6_57;
LBB6_54:
bfe.u32 	%r86, %r25, 16, 1;
add.s32 	%r87, %r25, %r86;
add.s32 	%r88, %r87, 32767;
shr.u32 	%r26, %r88, 16;
cvt.u16.u32 	%rs57, %r26;
LBB6_57:
@%p4 bra 	LBB6_61;
bra.uni 	LBB6_58;
LBB6_61:
cvt.rn.f16.f32 %rs58, %f8;
bra.uni 	LBB6_62;
LBB6_58:
mov.b32 	%r29, %f8;
and.b32  	%r90, %r29, 2147483647;
setp.gt.u32 	%p19, %r90, 2139095040;
@%p19 bra 	LBB6_60;
bra.uni 	LBB6_59;
LBB6_60:
shr.u32 	%r94, %r29, 16;
or.b32  	%r31, %r94, 64;
cvt.u16.u32 	%rs58, %r31;
bra.uni 	LBB6_62;
LBB6_59:
bfe.u32 	%r91, %r29, 16, 1;
add.s32 	%r92, %r29, %r91;
add.s32 	%r93, %r92, 32767;
shr.u32 	%r30, %r93, 16;
cvt.u16.u32 	%rs58, %r30;
LBB6_62:
shl.b64 	%rd58, %rd4, 1;
add.s64 	%rd11, %rd1, %rd58;
setp.lt.u64 	%p20, %rd9, 8;
@%p20 bra 	LBB6_64;
bra.uni 	LBB6_63;
LBB6_64:
setp.eq.s64 	%p21, %rd9, 0;
@%p21 bra 	LBB6_66;
st.global.u16 	[%rd11], %rs3;
LBB6_66:
setp.lt.u64 	%p22, %rd9, 2;
@%p22 bra 	LBB6_68;
st.global.u16 	[%rd11+2], %rs52;
LBB6_68:
setp.lt.u64 	%p23, %rd9, 3;
@%p23 bra 	LBB6_70;
st.global.u16 	[%rd11+4], %rs53;
LBB6_70:
setp.lt.u64 	%p24, %rd9, 4;
@%p24 bra 	LBB6_72;
st.global.u16 	[%rd11+6], %rs54;
LBB6_72:
setp.lt.u64 	%p25, %rd9, 5;
@%p25 bra 	LBB6_74;
st.global.u16 	[%rd11+8], %rs55;
LBB6_74:
setp.lt.u64 	%p26, %rd9, 6;
@%p26 bra 	LBB6_76;
st.global.u16 	[%rd11+10], %rs56;
LBB6_76:
setp.lt.u64 	%p27, %rd9, 7;
@%p27 bra 	LBB6_78;
st.global.u16 	[%rd11+12], %rs57;
bra.uni 	LBB6_78;
LBB6_63:
cvt.u32.u16 	%r95, %rs3;
cvt.u32.u16 	%r96, %rs52;
shl.b32 	%r97, %r96, 16;
or.b32  	%r98, %r97, %r95;
cvt.u32.u16 	%r99, %rs53;
cvt.u32.u16 	%r100, %rs54;
shl.b32 	%r101, %r100, 16;
or.b32  	%r102, %r101, %r99;
cvt.u32.u16 	%r103, %rs55;
cvt.u32.u16 	%r104, %rs56;
shl.b32 	%r105, %r104, 16;
or.b32  	%r106, %r105, %r103;
cvt.u32.u16 	%r107, %rs57;
cvt.u32.u16 	%r108, %rs58;
shl.b32 	%r109, %r108, 16;
or.b32  	%r110, %r109, %r107;
st.global.v4.u32 	[%rd11], {%r98, %r102, %r106, %r110};
LBB6_78:
ret;
}
)ptx";
constexpr char k_mcf_q4[] = R"ptx(.visible .entry mcf_q4(
.param .u64 mcf_q4_param_0,
.param .u64 mcf_q4_param_1,
.param .u64 mcf_q4_param_2,
.param .u64 mcf_q4_param_3,
.param .u64 mcf_q4_param_4,
.param .u64 mcf_q4_param_5,
.param .u64 mcf_q4_param_6,
.param .u64 mcf_q4_param_7,
.param .u64 mcf_q4_param_8
)
{
.reg .pred 	%p<36>;
.reg .b16 	%rs<59>;
.reg .b32 	%r<122>;
.reg .f32 	%f<26>;
.reg .b64 	%rd<39>;
ld.param.u64 	%rd14, [mcf_q4_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd19, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd20, %r35;
add.s64 	%rd21, %rd19, %rd20;
shl.b64 	%rd4, %rd21, 3;
setp.ge.u64 	%p1, %rd4, %rd14;
@%p1 bra 	LBB7_78;
ld.param.u64 	%rd15, [mcf_q4_param_8];
ld.param.u64 	%rd13, [mcf_q4_param_6];
ld.param.u64 	%rd12, [mcf_q4_param_5];
ld.param.u64 	%rd16, [mcf_q4_param_0];
ld.param.u64 	%rd17, [mcf_q4_param_3];
ld.param.u64 	%rd18, [mcf_q4_param_1];
cvta.to.global.u64 	%rd2, %rd18;
cvta.to.global.u64 	%rd3, %rd16;
or.b64  	%rd22, %rd4, %rd12;
and.b64  	%rd23, %rd22, -4294967296;
setp.ne.s64 	%p2, %rd23, 0;
@%p2 bra 	LBB7_3;
bra.uni 	LBB7_2;
LBB7_3:
div.u64 	%rd38, %rd4, %rd12;
bra.uni 	LBB7_4;
LBB7_2:
cvt.u32.u64 	%r36, %rd12;
cvt.u32.u64 	%r37, %rd4;
div.u32 	%r38, %r37, %r36;
cvt.u64.u32 	%rd38, %r38;
LBB7_4:
cvta.to.global.u64 	%rd1, %rd17;
mul.lo.s64 	%rd24, %rd38, %rd12;
sub.s64 	%rd25, %rd4, %rd24;
shr.u64 	%rd26, %rd25, 5;
mul.lo.s64 	%rd27, %rd38, %rd13;
shl.b64 	%rd28, %rd27, 4;
add.s64 	%rd29, %rd3, %rd28;
add.s64 	%rd30, %rd26, %rd27;
shl.b64 	%rd31, %rd30, 1;
add.s64 	%rd32, %rd2, %rd31;
ld.global.u8 	%rs26, [%rd32];
ld.global.u8 	%rs27, [%rd32+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
shr.u64 	%rd33, %rd25, 1;
and.b64  	%rd34, %rd33, 2305843009213693951;
add.s64 	%rd35, %rd29, %rd34;
ld.global.u8 	%r39, [%rd35];
ld.global.u8 	%r40, [%rd35+1];
ld.global.u8 	%r41, [%rd35+2];
ld.global.u8 	%r42, [%rd35+3];
bfe.s32 	%r43, %r39, 0, 4;
cvt.rn.f32.s32 	%f10, %r43;
mul.rn.f32 	%f1, %f9, %f10;
bfe.s32 	%r44, %r39, 4, 4;
cvt.rn.f32.s32 	%f11, %r44;
mul.rn.f32 	%f2, %f9, %f11;
bfe.s32 	%r45, %r40, 0, 4;
cvt.rn.f32.s32 	%f12, %r45;
mul.rn.f32 	%f3, %f9, %f12;
bfe.s32 	%r46, %r40, 4, 4;
cvt.rn.f32.s32 	%f13, %r46;
mul.rn.f32 	%f4, %f9, %f13;
bfe.s32 	%r47, %r41, 0, 4;
cvt.rn.f32.s32 	%f14, %r47;
mul.rn.f32 	%f5, %f9, %f14;
bfe.s32 	%r48, %r41, 4, 4;
cvt.rn.f32.s32 	%f15, %r48;
mul.rn.f32 	%f6, %f9, %f15;
bfe.s32 	%r49, %r42, 0, 4;
cvt.rn.f32.s32 	%f16, %r49;
mul.rn.f32 	%f7, %f9, %f16;
bfe.s32 	%r50, %r42, 4, 4;
cvt.rn.f32.s32 	%f17, %r50;
mul.rn.f32 	%f8, %f9, %f17;
sub.s64 	%rd9, %rd14, %rd4;
setp.ne.s64 	%p3, %rd15, 0;
@%p3 bra 	LBB7_22;
bra.uni 	LBB7_5;
LBB7_22:
setp.eq.s64 	%p4, %rd15, 1;
@%p4 bra 	LBB7_21;
bra.uni 	LBB7_23;
LBB7_21:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB7_27;
LBB7_5:
shl.b64 	%rd37, %rd4, 2;
add.s64 	%rd10, %rd1, %rd37;
setp.gt.u64 	%p28, %rd9, 7;
@%p28 bra 	LBB7_20;
setp.eq.s64 	%p29, %rd9, 0;
@%p29 bra 	LBB7_8;
st.global.f32 	[%rd10], %f1;
LBB7_8:
setp.lt.u64 	%p30, %rd9, 2;
@%p30 bra 	LBB7_10;
st.global.f32 	[%rd10+4], %f2;
LBB7_10:
setp.lt.u64 	%p31, %rd9, 3;
@%p31 bra 	LBB7_12;
st.global.f32 	[%rd10+8], %f3;
LBB7_12:
setp.lt.u64 	%p32, %rd9, 4;
@%p32 bra 	LBB7_14;
st.global.f32 	[%rd10+12], %f4;
LBB7_14:
setp.lt.u64 	%p33, %rd9, 5;
@%p33 bra 	LBB7_16;
st.global.f32 	[%rd10+16], %f5;
LBB7_16:
setp.lt.u64 	%p34, %rd9, 6;
@%p34 bra 	LBB7_18;
st.global.f32 	[%rd10+20], %f6;
LBB7_18:
setp.lt.u64 	%p35, %rd9, 7;
@%p35 bra 	LBB7_78;
st.global.f32 	[%rd10+24], %f7;
bra.uni 	LBB7_78;
LBB7_23:
mov.b32 	%r1, %f1;
and.b32  	%r51, %r1, 2147483647;
setp.lt.u32 	%p5, %r51, 2139095041;
@%p5 bra 	LBB7_25;
shr.u32 	%r55, %r1, 16;
or.b32  	%r121, %r55, 64;
bra.uni 	LBB7_26;
LBB7_20:
st.global.v4.f32 	[%rd10], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd10+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB7_78;
LBB7_25:
bfe.u32 	%r52, %r1, 16, 1;
add.s32 	%r53, %r1, %r52;
add.s32 	%r54, %r53, 32767;
shr.u32 	%r121, %r54, 16;
LBB7_26:
cvt.u16.u32 	%rs3, %r121;
LBB7_27:
@%p4 bra 	LBB7_31;
bra.uni 	LBB7_28;
LBB7_31:
cvt.rn.f16.f32 %rs52, %f2;
bra.uni 	LBB7_32;
LBB7_28:
mov.b32 	%r5, %f2;
and.b32  	%r56, %r5, 2147483647;
setp.gt.u32 	%p7, %r56, 2139095040;
@%p7 bra 	LBB7_30;
bra.uni 	LBB7_29;
LBB7_30:
shr.u32 	%r60, %r5, 16;
or.b32  	%r7, %r60, 64;
cvt.u16.u32 	%rs52, %r7;
bra.uni 	LBB7_32;
LBB7_29:
bfe.u32 	%r57, %r5, 16, 1;
add.s32 	%r58, %r5, %r57;
add.s32 	%r59, %r58, 32767;
shr.u32 	%r6, %r59, 16;
cvt.u16.u32 	%rs52, %r6;
LBB7_32:
@%p4 bra 	LBB7_36;
bra.uni 	LBB7_33;
LBB7_36:
cvt.rn.f16.f32 %rs53, %f3;
bra.uni 	LBB7_37;
LBB7_33:
mov.b32 	%r9, %f3;
and.b32  	%r61, %r9, 2147483647;
setp.gt.u32 	%p9, %r61, 2139095040;
@%p9 bra 	LBB7_35;
bra.uni 	LBB7_34;
LBB7_35:
shr.u32 	%r65, %r9, 16;
or.b32  	%r11, %r65, 64;
cvt.u16.u32 	%rs53, %r11;
bra.uni 	LBB7_37;
LBB7_34:
bfe.u32 	%r62, %r9, 16, 1;
add.s32 	%r63, %r9, %r62;
add.s32 	%r64, %r63, 32767;
shr.u32 	%r10, %r64, 16;
cvt.u16.u32 	%rs53, %r10;
LBB7_37:
@%p4 bra 	LBB7_41;
bra.uni 	LBB7_38;
LBB7_41:
cvt.rn.f16.f32 %rs54, %f4;
bra.uni 	LBB7_42;
LBB7_38:
mov.b32 	%r13, %f4;
and.b32  	%r66, %r13, 2147483647;
setp.gt.u32 	%p11, %r66, 2139095040;
@%p11 bra 	LBB7_40;
bra.uni 	LBB7_39;
LBB7_40:
shr.u32 	%r70, %r13, 16;
or.b32  	%r15, %r70, 64;
cvt.u16.u32 	%rs54, %r15;
bra.uni 	LBB7_42;
LBB7_39:
bfe.u32 	%r67, %r13, 16, 1;
add.s32 	%r68, %r13, %r67;
add.s32 	%r69, %r68, 32767;
shr.u32 	%r14, %r69, 16;
cvt.u16.u32 	%rs54, %r14;
LBB7_42:
@%p4 bra 	LBB7_46;
bra.uni 	LBB7_43;
LBB7_46:
cvt.rn.f16.f32 %rs55, %f5;
bra.uni 	LBB7_47;
LBB7_43:
mov.b32 	%r17, %f5;
and.b32  	%r71, %r17, 2147483647;
setp.gt.u32 	%p13, %r71, 2139095040;
@%p13 bra 	LBB7_45;
bra.uni 	LBB7_44;
LBB7_45:
shr.u32 	%r75, %r17, 16;
or.b32  	%r19, %r75, 64;
cvt.u16.u32 	%rs55, %r19;
bra.uni 	LBB7_47;
LBB7_44:
bfe.u32 	%r72, %r17, 16, 1;
add.s32 	%r73, %r17, %r72;
add.s32 	%r74, %r73, 32767;
shr.u32 	%r18, %r74, 16;
cvt.u16.u32 	%rs55, %r18;
LBB7_47:
@%p4 bra 	LBB7_51;
bra.uni 	LBB7_48;
LBB7_51:
cvt.rn.f16.f32 %rs56, %f6;
bra.uni 	LBB7_52;
LBB7_48:
mov.b32 	%r21, %f6;
and.b32  	%r76, %r21, 2147483647;
setp.gt.u32 	%p15, %r76, 2139095040;
@%p15 bra 	LBB7_50;
bra.uni 	LBB7_49;
LBB7_50:
shr.u32 	%r80, %r21, 16;
or.b32  	%r23, %r80, 64;
cvt.u16.u32 	%rs56, %r23;
bra.uni 	LBB7_52;
LBB7_49:
bfe.u32 	%r77, %r21, 16, 1;
add.s32 	%r78, %r21, %r77;
add.s32 	%r79, %r78, 32767;
shr.u32 	%r22, %r79, 16;
cvt.u16.u32 	%rs56, %r22;
LBB7_52:
@%p4 bra 	LBB7_56;
bra.uni 	LBB7_53;
LBB7_56:
cvt.rn.f16.f32 %rs57, %f7;
bra.uni 	LBB7_57;
LBB7_53:
mov.b32 	%r25, %f7;
and.b32  	%r81, %r25, 2147483647;
setp.gt.u32 	%p17, %r81, 2139095040;
@%p17 bra 	LBB7_55;
bra.uni 	LBB7_54;
LBB7_55:
shr.u32 	%r85, %r25, 16;
or.b32  	%r27, %r85, 64;
cvt.u16.u32 	%rs57, %r27;
bra.uni 	LBB7_57;
LBB7_54:
bfe.u32 	%r82, %r25, 16, 1;
add.s32 	%r83, %r25, %r82;
add.s32 	%r84, %r83, 32767;
shr.u32 	%r26, %r84, 16;
cvt.u16.u32 	%rs57, %r26;
LBB7_57:
@%p4 bra 	LBB7_61;
bra.uni 	LBB7_58;
LBB7_61:
cvt.rn.f16.f32 %rs58, %f8;
bra.uni 	LBB7_62;
LBB7_58:
mov.b32 	%r29, %f8;
and.b32  	%r86, %r29, 2147483647;
setp.gt.u32 	%p19, %r86, 2139095040;
@%p19 bra 	LBB7_60;
bra.uni 	LBB7_59;
LBB7_60:
shr.u32 	%r90, %r29, 16;
or.b32  	%r31, %r90, 64;
cvt.u16.u32 	%rs58, %r31;
bra.uni 	LBB7_62;
LBB7_59:
bfe.u32 	%r87, %r29, 16, 1;
add.s32 	%r88, %r29, %r87;
add.s32 	%r89, %r88, 32767;
shr.u32 	%r30, %r89, 16;
cvt.u16.u32 	%rs58, %r30;
LBB7_62:
shl.b64 	%rd36, %rd4, 1;
add.s64 	%rd11, %rd1, %rd36;
setp.lt.u64 	%p20, %rd9, 8;
@%p20 bra 	LBB7_64;
bra.uni 	LBB7_63;
LBB7_64:
setp.eq.s64 	%p21, %rd9, 0;
@%p21 bra 	LBB7_66;
st.global.u16 	[%rd11], %rs3;
LBB7_66:
setp.lt.u64 	%p22, %rd9, 2;
@%p22 bra 	LBB7_68;
st.global.u16 	[%rd11+2], %rs52;
LBB7_68:
setp.lt.u64 	%p23, %rd9, 3;
@%p23 bra 	LBB7_70;
st.global.u16 	[%rd11+4], %rs53;
LBB7_70:
setp.lt.u64 	%p24, %rd9, 4;
@%p24 bra 	LBB7_72;
st.global.u16 	[%rd11+6], %rs54;
LBB7_72:
setp.lt.u64 	%p25, %rd9, 5;
@%p25 bra 	LBB7_74;
st.global.u16 	[%rd11+8], %rs55;
LBB7_74:
setp.lt.u64 	%p26, %rd9, 6;
@%p26 bra 	LBB7_76;
st.global.u16 	[%rd11+10], %rs56;
LBB7_76:
setp.lt.u64 	%p27, %rd9, 7;
@%p27 bra 	LBB7_78;
st.global.u16 	[%rd11+12], %rs57;
bra.uni 	LBB7_78;
LBB7_63:
cvt.u32.u16 	%r91, %rs3;
cvt.u32.u16 	%r92, %rs52;
shl.b32 	%r93, %r92, 16;
or.b32  	%r94, %r93, %r91;
cvt.u32.u16 	%r95, %rs53;
cvt.u32.u16 	%r96, %rs54;
shl.b32 	%r97, %r96, 16;
or.b32  	%r98, %r97, %r95;
cvt.u32.u16 	%r99, %rs55;
cvt.u32.u16 	%r100, %rs56;
shl.b32 	%r101, %r100, 16;
or.b32  	%r102, %r101, %r99;
cvt.u32.u16 	%r103, %rs57;
cvt.u32.u16 	%r104, %rs58;
shl.b32 	%r105, %r104, 16;
or.b32  	%r106, %r105, %r103;
st.global.v4.u32 	[%rd11], {%r94, %r98, %r102, %r106};
LBB7_78:
ret;
}
)ptx";
constexpr char k_mcf_k6[] = R"ptx(.visible .entry mcf_k6(
.param .u64 mcf_k6_param_0,
.param .u64 mcf_k6_param_1,
.param .u64 mcf_k6_param_2,
.param .u64 mcf_k6_param_3,
.param .u64 mcf_k6_param_4,
.param .u64 mcf_k6_param_5,
.param .u64 mcf_k6_param_6,
.param .u64 mcf_k6_param_7,
.param .u64 mcf_k6_param_8
)
{
.reg .pred 	%p<36>;
.reg .b16 	%rs<60>;
.reg .b32 	%r<125>;
.reg .f32 	%f<29>;
.reg .b64 	%rd<63>;
ld.param.u64 	%rd15, [mcf_k6_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd21, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd22, %r35;
add.s64 	%rd23, %rd21, %rd22;
shl.b64 	%rd5, %rd23, 3;
setp.ge.u64 	%p1, %rd5, %rd15;
@%p1 bra 	LBB8_78;
ld.param.u64 	%rd16, [mcf_k6_param_8];
ld.param.u64 	%rd14, [mcf_k6_param_6];
ld.param.u64 	%rd13, [mcf_k6_param_5];
ld.param.u64 	%rd17, [mcf_k6_param_0];
ld.param.u64 	%rd18, [mcf_k6_param_3];
ld.param.u64 	%rd19, [mcf_k6_param_1];
ld.param.u64 	%rd20, [mcf_k6_param_2];
cvta.to.global.u64 	%rd2, %rd20;
cvta.to.global.u64 	%rd3, %rd19;
cvta.to.global.u64 	%rd4, %rd17;
or.b64  	%rd24, %rd5, %rd13;
and.b64  	%rd25, %rd24, -4294967296;
setp.ne.s64 	%p2, %rd25, 0;
@%p2 bra 	LBB8_3;
bra.uni 	LBB8_2;
LBB8_3:
div.u64 	%rd62, %rd5, %rd13;
bra.uni 	LBB8_4;
LBB8_2:
cvt.u32.u64 	%r36, %rd13;
cvt.u32.u64 	%r37, %rd5;
div.u32 	%r38, %r37, %r36;
cvt.u64.u32 	%rd62, %r38;
LBB8_4:
cvta.to.global.u64 	%rd1, %rd18;
mul.lo.s64 	%rd26, %rd62, %rd13;
sub.s64 	%rd27, %rd5, %rd26;
shr.u64 	%rd28, %rd27, 5;
mul.lo.s64 	%rd29, %rd62, %rd14;
mul.lo.s64 	%rd30, %rd29, 24;
add.s64 	%rd31, %rd4, %rd30;
add.s64 	%rd32, %rd14, 7;
shr.u64 	%rd33, %rd32, 3;
mul.lo.s64 	%rd34, %rd62, %rd33;
shr.u64 	%rd35, %rd27, 8;
add.s64 	%rd36, %rd35, %rd34;
shl.b64 	%rd37, %rd36, 1;
add.s64 	%rd38, %rd3, %rd37;
ld.global.u8 	%rs26, [%rd38];
ld.global.u8 	%rs27, [%rd38+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
add.s64 	%rd39, %rd28, %rd29;
add.s64 	%rd40, %rd2, %rd39;
ld.global.u8 	%rs29, [%rd40];
cvt.rn.f32.u16 	%f10, %rs29;
mul.rn.f32 	%f11, %f10, 0f3D000000;
mul.lo.s64 	%rd41, %rd27, 6;
shr.u64 	%rd42, %rd41, 3;
add.s64 	%rd43, %rd31, %rd42;
ld.global.u8 	%rd44, [%rd43];
ld.global.u8 	%r39, [%rd43+1];
mul.wide.u32 	%rd45, %r39, 256;
or.b64  	%rd46, %rd45, %rd44;
ld.global.u8 	%r40, [%rd43+2];
mul.wide.u32 	%rd47, %r40, 65536;
or.b64  	%rd48, %rd46, %rd47;
ld.global.u8 	%r41, [%rd43+3];
mul.wide.u32 	%rd49, %r41, 16777216;
or.b64  	%rd50, %rd48, %rd49;
ld.global.u8 	%rd51, [%rd43+4];
shl.b64 	%rd52, %rd51, 32;
or.b64  	%rd53, %rd52, %rd50;
ld.global.u8 	%rd54, [%rd43+5];
shl.b64 	%rd55, %rd54, 40;
or.b64  	%rd56, %rd55, %rd53;
mul.rn.f32 	%f12, %f9, %f11;
cvt.u32.u64 	%r42, %rd50;
bfe.s32 	%r43, %r42, 0, 6;
cvt.rn.f32.s32 	%f13, %r43;
mul.rn.f32 	%f1, %f12, %f13;
bfe.s32 	%r44, %r42, 6, 6;
cvt.rn.f32.s32 	%f14, %r44;
mul.rn.f32 	%f2, %f12, %f14;
bfe.s32 	%r45, %r42, 12, 6;
cvt.rn.f32.s32 	%f15, %r45;
mul.rn.f32 	%f3, %f12, %f15;
bfe.s32 	%r46, %r42, 18, 6;
cvt.rn.f32.s32 	%f16, %r46;
mul.rn.f32 	%f4, %f12, %f16;
bfe.s32 	%r47, %r42, 24, 6;
cvt.rn.f32.s32 	%f17, %r47;
mul.rn.f32 	%f5, %f12, %f17;
shr.u64 	%rd57, %rd53, 4;
cvt.u32.u64 	%r48, %rd57;
shr.s32 	%r49, %r48, 26;
cvt.rn.f32.s32 	%f18, %r49;
mul.rn.f32 	%f6, %f12, %f18;
shr.u64 	%rd58, %rd56, 10;
cvt.u32.u64 	%r50, %rd58;
shr.s32 	%r51, %r50, 26;
cvt.rn.f32.s32 	%f19, %r51;
mul.rn.f32 	%f7, %f12, %f19;
shr.u64 	%rd59, %rd56, 16;
cvt.u32.u64 	%r52, %rd59;
shr.s32 	%r53, %r52, 26;
cvt.rn.f32.s32 	%f20, %r53;
mul.rn.f32 	%f8, %f12, %f20;
sub.s64 	%rd10, %rd15, %rd5;
setp.ne.s64 	%p3, %rd16, 0;
@%p3 bra 	LBB8_22;
bra.uni 	LBB8_5;
LBB8_22:
setp.eq.s64 	%p4, %rd16, 1;
@%p4 bra 	LBB8_21;
bra.uni 	LBB8_23;
LBB8_21:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB8_27;
LBB8_5:
shl.b64 	%rd61, %rd5, 2;
add.s64 	%rd11, %rd1, %rd61;
setp.gt.u64 	%p28, %rd10, 7;
@%p28 bra 	LBB8_20;
setp.eq.s64 	%p29, %rd10, 0;
@%p29 bra 	LBB8_8;
st.global.f32 	[%rd11], %f1;
LBB8_8:
setp.lt.u64 	%p30, %rd10, 2;
@%p30 bra 	LBB8_10;
st.global.f32 	[%rd11+4], %f2;
LBB8_10:
setp.lt.u64 	%p31, %rd10, 3;
@%p31 bra 	LBB8_12;
st.global.f32 	[%rd11+8], %f3;
LBB8_12:
setp.lt.u64 	%p32, %rd10, 4;
@%p32 bra 	LBB8_14;
st.global.f32 	[%rd11+12], %f4;
LBB8_14:
setp.lt.u64 	%p33, %rd10, 5;
@%p33 bra 	LBB8_16;
st.global.f32 	[%rd11+16], %f5;
LBB8_16:
setp.lt.u64 	%p34, %rd10, 6;
@%p34 bra 	LBB8_18;
st.global.f32 	[%rd11+20], %f6;
LBB8_18:
setp.lt.u64 	%p35, %rd10, 7;
@%p35 bra 	LBB8_78;
st.global.f32 	[%rd11+24], %f7;
bra.uni 	LBB8_78;
LBB8_23:
mov.b32 	%r1, %f1;
and.b32  	%r54, %r1, 2147483647;
setp.lt.u32 	%p5, %r54, 2139095041;
@%p5 bra 	LBB8_25;
shr.u32 	%r58, %r1, 16;
or.b32  	%r124, %r58, 64;
bra.uni 	LBB8_26;
LBB8_20:
st.global.v4.f32 	[%rd11], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd11+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB8_78;
LBB8_25:
bfe.u32 	%r55, %r1, 16, 1;
add.s32 	%r56, %r1, %r55;
add.s32 	%r57, %r56, 32767;
shr.u32 	%r124, %r57, 16;
LBB8_26:
cvt.u16.u32 	%rs3, %r124;
LBB8_27:
@%p4 bra 	LBB8_31;
bra.uni 	LBB8_28;
LBB8_31:
cvt.rn.f16.f32 %rs53, %f2;
bra.uni 	LBB8_32;
LBB8_28:
mov.b32 	%r5, %f2;
and.b32  	%r59, %r5, 2147483647;
setp.gt.u32 	%p7, %r59, 2139095040;
@%p7 bra 	LBB8_30;
bra.uni 	LBB8_29;
LBB8_30:
shr.u32 	%r63, %r5, 16;
or.b32  	%r7, %r63, 64;
cvt.u16.u32 	%rs53, %r7;
bra.uni 	LBB8_32;
LBB8_29:
bfe.u32 	%r60, %r5, 16, 1;
add.s32 	%r61, %r5, %r60;
add.s32 	%r62, %r61, 32767;
shr.u32 	%r6, %r62, 16;
cvt.u16.u32 	%rs53, %r6;
LBB8_32:
@%p4 bra 	LBB8_36;
bra.uni 	LBB8_33;
LBB8_36:
cvt.rn.f16.f32 %rs54, %f3;
bra.uni 	LBB8_37;
LBB8_33:
mov.b32 	%r9, %f3;
and.b32  	%r64, %r9, 2147483647;
setp.gt.u32 	%p9, %r64, 2139095040;
@%p9 bra 	LBB8_35;
bra.uni 	LBB8_34;
LBB8_35:
shr.u32 	%r68, %r9, 16;
or.b32  	%r11, %r68, 64;
cvt.u16.u32 	%rs54, %r11;
bra.uni 	LBB8_37;
LBB8_34:
bfe.u32 	%r65, %r9, 16, 1;
add.s32 	%r66, %r9, %r65;
add.s32 	%r67, %r66, 32767;
shr.u32 	%r10, %r67, 16;
cvt.u16.u32 	%rs54, %r10;
LBB8_37:
@%p4 bra 	LBB8_41;
bra.uni 	LBB8_38;
LBB8_41:
cvt.rn.f16.f32 %rs55, %f4;
bra.uni 	LBB8_42;
LBB8_38:
mov.b32 	%r13, %f4;
and.b32  	%r69, %r13, 2147483647;
setp.gt.u32 	%p11, %r69, 2139095040;
@%p11 bra 	LBB8_40;
bra.uni 	LBB8_39;
LBB8_40:
shr.u32 	%r73, %r13, 16;
or.b32  	%r15, %r73, 64;
cvt.u16.u32 	%rs55, %r15;
bra.uni 	LBB8_42;
LBB8_39:
bfe.u32 	%r70, %r13, 16, 1;
add.s32 	%r71, %r13, %r70;
add.s32 	%r72, %r71, 32767;
shr.u32 	%r14, %r72, 16;
cvt.u16.u32 	%rs55, %r14;
LBB8_42:
@%p4 bra 	LBB8_46;
bra.uni 	LBB8_43;
LBB8_46:
cvt.rn.f16.f32 %rs56, %f5;
bra.uni 	LBB8_47;
LBB8_43:
mov.b32 	%r17, %f5;
and.b32  	%r74, %r17, 2147483647;
setp.gt.u32 	%p13, %r74, 2139095040;
@%p13 bra 	LBB8_45;
bra.uni 	LBB8_44;
LBB8_45:
shr.u32 	%r78, %r17, 16;
or.b32  	%r19, %r78, 64;
cvt.u16.u32 	%rs56, %r19;
bra.uni 	LBB8_47;
LBB8_44:
bfe.u32 	%r75, %r17, 16, 1;
add.s32 	%r76, %r17, %r75;
add.s32 	%r77, %r76, 32767;
shr.u32 	%r18, %r77, 16;
cvt.u16.u32 	%rs56, %r18;
LBB8_47:
@%p4 bra 	LBB8_51;
bra.uni 	LBB8_48;
LBB8_51:
cvt.rn.f16.f32 %rs57, %f6;
bra.uni 	LBB8_52;
LBB8_48:
mov.b32 	%r21, %f6;
and.b32  	%r79, %r21, 2147483647;
setp.gt.u32 	%p15, %r79, 2139095040;
@%p15 bra 	LBB8_50;
bra.uni 	LBB8_49;
LBB8_50:
shr.u32 	%r83, %r21, 16;
or.b32  	%r23, %r83, 64;
cvt.u16.u32 	%rs57, %r23;
bra.uni 	LBB8_52;
LBB8_49:
bfe.u32 	%r80, %r21, 16, 1;
add.s32 	%r81, %r21, %r80;
add.s32 	%r82, %r81, 32767;
shr.u32 	%r22, %r82, 16;
cvt.u16.u32 	%rs57, %r22;
LBB8_52:
@%p4 bra 	LBB8_56;
bra.uni 	LBB8_53;
LBB8_56:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB8_57;
LBB8_53:
mov.b32 	%r25, %f7;
and.b32  	%r84, %r25, 2147483647;
setp.gt.u32 	%p17, %r84, 2139095040;
@%p17 bra 	LBB8_55;
bra.uni 	LBB8_54;
LBB8_55:
shr.u32 	%r88, %r25, 16;
or.b32  	%r27, %r88, 64;
cvt.u16.u32 	%rs58, %r27;
bra.uni 	LBB8_57;
LBB8_54:
bfe.u32 	%r85, %r25, 16, 1;
add.s32 	%r86, %r25, %r85;
add.s32 	%r87, %r86, 32767;
shr.u32 	%r26, %r87, 16;
cvt.u16.u32 	%rs58, %r26;
LBB8_57:
@%p4 bra 	LBB8_61;
bra.uni 	LBB8_58;
LBB8_61:
cvt.rn.f16.f32 %rs59, %f8;
bra.uni 	LBB8_62;
LBB8_58:
mov.b32 	%r29, %f8;
and.b32  	%r89, %r29, 2147483647;
setp.gt.u32 	%p19, %r89, 2139095040;
@%p19 bra 	LBB8_60;
bra.uni 	LBB8_59;
LBB8_60:
shr.u32 	%r93, %r29, 16;
or.b32  	%r31, %r93, 64;
cvt.u16.u32 	%rs59, %r31;
bra.uni 	LBB8_62;
LBB8_59:
bfe.u32 	%r90, %r29, 16, 1;
add.s32 	%r91, %r29, %r90;
add.s32 	%r92, %r91, 32767;
shr.u32 	%r30, %r92, 16;
cvt.u16.u32 	%rs59, %r30;
LBB8_62:
shl.b64 	%rd60, %rd5, 1;
add.s64 	%rd12, %rd1, %rd60;
setp.lt.u64 	%p20, %rd10, 8;
@%p20 bra 	LBB8_64;
bra.uni 	LBB8_63;
LBB8_64:
setp.eq.s64 	%p21, %rd10, 0;
@%p21 bra 	LBB8_66;
st.global.u16 	[%rd12], %rs3;
LBB8_66:
setp.lt.u64 	%p22, %rd10, 2;
@%p22 bra 	LBB8_68;
st.global.u16 	[%rd12+2], %rs53;
LBB8_68:
setp.lt.u64 	%p23, %rd10, 3;
@%p23 bra 	LBB8_70;
st.global.u16 	[%rd12+4], %rs54;
LBB8_70:
setp.lt.u64 	%p24, %rd10, 4;
@%p24 bra 	LBB8_72;
st.global.u16 	[%rd12+6], %rs55;
LBB8_72:
setp.lt.u64 	%p25, %rd10, 5;
@%p25 bra 	LBB8_74;
st.global.u16 	[%rd12+8], %rs56;
LBB8_74:
setp.lt.u64 	%p26, %rd10, 6;
@%p26 bra 	LBB8_76;
st.global.u16 	[%rd12+10], %rs57;
LBB8_76:
setp.lt.u64 	%p27, %rd10, 7;
@%p27 bra 	LBB8_78;
st.global.u16 	[%rd12+12], %rs58;
bra.uni 	LBB8_78;
LBB8_63:
cvt.u32.u16 	%r94, %rs3;
cvt.u32.u16 	%r95, %rs53;
shl.b32 	%r96, %r95, 16;
or.b32  	%r97, %r96, %r94;
cvt.u32.u16 	%r98, %rs54;
cvt.u32.u16 	%r99, %rs55;
shl.b32 	%r100, %r99, 16;
or.b32  	%r101, %r100, %r98;
cvt.u32.u16 	%r102, %rs56;
cvt.u32.u16 	%r103, %rs57;
shl.b32 	%r104, %r103, 16;
or.b32  	%r105, %r104, %r102;
cvt.u32.u16 	%r106, %rs58;
cvt.u32.u16 	%r107, %rs59;
shl.b32 	%r108, %r107, 16;
or.b32  	%r109, %r108, %r106;
st.global.v4.u32 	[%rd12], {%r97, %r101, %r105, %r109};
LBB8_78:
ret;
}
)ptx";
constexpr char k_mcf_k4[] = R"ptx(.visible .entry mcf_k4(
.param .u64 mcf_k4_param_0,
.param .u64 mcf_k4_param_1,
.param .u64 mcf_k4_param_2,
.param .u64 mcf_k4_param_3,
.param .u64 mcf_k4_param_4,
.param .u64 mcf_k4_param_5,
.param .u64 mcf_k4_param_6,
.param .u64 mcf_k4_param_7,
.param .u64 mcf_k4_param_8
)
{
.reg .pred 	%p<36>;
.reg .b16 	%rs<60>;
.reg .b32 	%r<122>;
.reg .f32 	%f<29>;
.reg .b64 	%rd<47>;
ld.param.u64 	%rd15, [mcf_k4_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd21, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd22, %r35;
add.s64 	%rd23, %rd21, %rd22;
shl.b64 	%rd5, %rd23, 3;
setp.ge.u64 	%p1, %rd5, %rd15;
@%p1 bra 	LBB9_78;
ld.param.u64 	%rd16, [mcf_k4_param_8];
ld.param.u64 	%rd14, [mcf_k4_param_6];
ld.param.u64 	%rd13, [mcf_k4_param_5];
ld.param.u64 	%rd17, [mcf_k4_param_0];
ld.param.u64 	%rd18, [mcf_k4_param_3];
ld.param.u64 	%rd19, [mcf_k4_param_1];
ld.param.u64 	%rd20, [mcf_k4_param_2];
cvta.to.global.u64 	%rd2, %rd20;
cvta.to.global.u64 	%rd3, %rd19;
cvta.to.global.u64 	%rd4, %rd17;
or.b64  	%rd24, %rd5, %rd13;
and.b64  	%rd25, %rd24, -4294967296;
setp.ne.s64 	%p2, %rd25, 0;
@%p2 bra 	LBB9_3;
bra.uni 	LBB9_2;
LBB9_3:
div.u64 	%rd46, %rd5, %rd13;
bra.uni 	LBB9_4;
LBB9_2:
cvt.u32.u64 	%r36, %rd13;
cvt.u32.u64 	%r37, %rd5;
div.u32 	%r38, %r37, %r36;
cvt.u64.u32 	%rd46, %r38;
LBB9_4:
cvta.to.global.u64 	%rd1, %rd18;
mul.lo.s64 	%rd26, %rd46, %rd13;
sub.s64 	%rd27, %rd5, %rd26;
shr.u64 	%rd28, %rd27, 5;
mul.lo.s64 	%rd29, %rd46, %rd14;
shl.b64 	%rd30, %rd29, 4;
add.s64 	%rd31, %rd4, %rd30;
add.s64 	%rd32, %rd14, 7;
shr.u64 	%rd33, %rd32, 3;
mul.lo.s64 	%rd34, %rd46, %rd33;
shr.u64 	%rd35, %rd27, 8;
add.s64 	%rd36, %rd35, %rd34;
shl.b64 	%rd37, %rd36, 1;
add.s64 	%rd38, %rd3, %rd37;
ld.global.u8 	%rs26, [%rd38];
ld.global.u8 	%rs27, [%rd38+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
add.s64 	%rd39, %rd28, %rd29;
add.s64 	%rd40, %rd2, %rd39;
ld.global.u8 	%rs29, [%rd40];
cvt.rn.f32.u16 	%f10, %rs29;
mul.rn.f32 	%f11, %f10, 0f3D000000;
shr.u64 	%rd41, %rd27, 1;
and.b64  	%rd42, %rd41, 2305843009213693951;
add.s64 	%rd43, %rd31, %rd42;
ld.global.u8 	%r39, [%rd43];
ld.global.u8 	%r40, [%rd43+1];
ld.global.u8 	%r41, [%rd43+2];
ld.global.u8 	%r42, [%rd43+3];
mul.rn.f32 	%f12, %f9, %f11;
bfe.s32 	%r43, %r39, 0, 4;
cvt.rn.f32.s32 	%f13, %r43;
mul.rn.f32 	%f1, %f12, %f13;
bfe.s32 	%r44, %r39, 4, 4;
cvt.rn.f32.s32 	%f14, %r44;
mul.rn.f32 	%f2, %f12, %f14;
bfe.s32 	%r45, %r40, 0, 4;
cvt.rn.f32.s32 	%f15, %r45;
mul.rn.f32 	%f3, %f12, %f15;
bfe.s32 	%r46, %r40, 4, 4;
cvt.rn.f32.s32 	%f16, %r46;
mul.rn.f32 	%f4, %f12, %f16;
bfe.s32 	%r47, %r41, 0, 4;
cvt.rn.f32.s32 	%f17, %r47;
mul.rn.f32 	%f5, %f12, %f17;
bfe.s32 	%r48, %r41, 4, 4;
cvt.rn.f32.s32 	%f18, %r48;
mul.rn.f32 	%f6, %f12, %f18;
bfe.s32 	%r49, %r42, 0, 4;
cvt.rn.f32.s32 	%f19, %r49;
mul.rn.f32 	%f7, %f12, %f19;
bfe.s32 	%r50, %r42, 4, 4;
cvt.rn.f32.s32 	%f20, %r50;
mul.rn.f32 	%f8, %f12, %f20;
sub.s64 	%rd10, %rd15, %rd5;
setp.ne.s64 	%p3, %rd16, 0;
@%p3 bra 	LBB9_22;
bra.uni 	LBB9_5;
LBB9_22:
setp.eq.s64 	%p4, %rd16, 1;
@%p4 bra 	LBB9_21;
bra.uni 	LBB9_23;
LBB9_21:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB9_27;
LBB9_5:
shl.b64 	%rd45, %rd5, 2;
add.s64 	%rd11, %rd1, %rd45;
setp.gt.u64 	%p28, %rd10, 7;
@%p28 bra 	LBB9_20;
setp.eq.s64 	%p29, %rd10, 0;
@%p29 bra 	LBB9_8;
st.global.f32 	[%rd11], %f1;
LBB9_8:
setp.lt.u64 	%p30, %rd10, 2;
@%p30 bra 	LBB9_10;
st.global.f32 	[%rd11+4], %f2;
LBB9_10:
setp.lt.u64 	%p31, %rd10, 3;
@%p31 bra 	LBB9_12;
st.global.f32 	[%rd11+8], %f3;
LBB9_12:
setp.lt.u64 	%p32, %rd10, 4;
@%p32 bra 	LBB9_14;
st.global.f32 	[%rd11+12], %f4;
LBB9_14:
setp.lt.u64 	%p33, %rd10, 5;
@%p33 bra 	LBB9_16;
st.global.f32 	[%rd11+16], %f5;
LBB9_16:
setp.lt.u64 	%p34, %rd10, 6;
@%p34 bra 	LBB9_18;
st.global.f32 	[%rd11+20], %f6;
LBB9_18:
setp.lt.u64 	%p35, %rd10, 7;
@%p35 bra 	LBB9_78;
st.global.f32 	[%rd11+24], %f7;
bra.uni 	LBB9_78;
LBB9_23:
mov.b32 	%r1, %f1;
and.b32  	%r51, %r1, 2147483647;
setp.lt.u32 	%p5, %r51, 2139095041;
@%p5 bra 	LBB9_25;
shr.u32 	%r55, %r1, 16;
or.b32  	%r121, %r55, 64;
bra.uni 	LBB9_26;
LBB9_20:
st.global.v4.f32 	[%rd11], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd11+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB9_78;
LBB9_25:
bfe.u32 	%r52, %r1, 16, 1;
add.s32 	%r53, %r1, %r52;
add.s32 	%r54, %r53, 32767;
shr.u32 	%r121, %r54, 16;
LBB9_26:
cvt.u16.u32 	%rs3, %r121;
LBB9_27:
@%p4 bra 	LBB9_31;
bra.uni 	LBB9_28;
LBB9_31:
cvt.rn.f16.f32 %rs53, %f2;
bra.uni 	LBB9_32;
LBB9_28:
mov.b32 	%r5, %f2;
and.b32  	%r56, %r5, 2147483647;
setp.gt.u32 	%p7, %r56, 2139095040;
@%p7 bra 	LBB9_30;
bra.uni 	LBB9_29;
LBB9_30:
shr.u32 	%r60, %r5, 16;
or.b32  	%r7, %r60, 64;
cvt.u16.u32 	%rs53, %r7;
bra.uni 	LBB9_32;
LBB9_29:
bfe.u32 	%r57, %r5, 16, 1;
add.s32 	%r58, %r5, %r57;
add.s32 	%r59, %r58, 32767;
shr.u32 	%r6, %r59, 16;
cvt.u16.u32 	%rs53, %r6;
LBB9_32:
@%p4 bra 	LBB9_36;
bra.uni 	LBB9_33;
LBB9_36:
cvt.rn.f16.f32 %rs54, %f3;
bra.uni 	LBB9_37;
LBB9_33:
mov.b32 	%r9, %f3;
and.b32  	%r61, %r9, 2147483647;
setp.gt.u32 	%p9, %r61, 2139095040;
@%p9 bra 	LBB9_35;
bra.uni 	LBB9_34;
LBB9_35:
shr.u32 	%r65, %r9, 16;
or.b32  	%r11, %r65, 64;
cvt.u16.u32 	%rs54, %r11;
bra.uni 	LBB9_37;
LBB9_34:
bfe.u32 	%r62, %r9, 16, 1;
add.s32 	%r63, %r9, %r62;
add.s32 	%r64, %r63, 32767;
shr.u32 	%r10, %r64, 16;
cvt.u16.u32 	%rs54, %r10;
LBB9_37:
@%p4 bra 	LBB9_41;
bra.uni 	LBB9_38;
LBB9_41:
cvt.rn.f16.f32 %rs55, %f4;
bra.uni 	LBB9_42;
LBB9_38:
mov.b32 	%r13, %f4;
and.b32  	%r66, %r13, 2147483647;
setp.gt.u32 	%p11, %r66, 2139095040;
@%p11 bra 	LBB9_40;
bra.uni 	LBB9_39;
LBB9_40:
shr.u32 	%r70, %r13, 16;
or.b32  	%r15, %r70, 64;
cvt.u16.u32 	%rs55, %r15;
bra.uni 	LBB9_42;
LBB9_39:
bfe.u32 	%r67, %r13, 16, 1;
add.s32 	%r68, %r13, %r67;
add.s32 	%r69, %r68, 32767;
shr.u32 	%r14, %r69, 16;
cvt.u16.u32 	%rs55, %r14;
LBB9_42:
@%p4 bra 	LBB9_46;
bra.uni 	LBB9_43;
LBB9_46:
cvt.rn.f16.f32 %rs56, %f5;
bra.uni 	LBB9_47;
LBB9_43:
mov.b32 	%r17, %f5;
and.b32  	%r71, %r17, 2147483647;
setp.gt.u32 	%p13, %r71, 2139095040;
@%p13 bra 	LBB9_45;
bra.uni 	LBB9_44;
LBB9_45:
shr.u32 	%r75, %r17, 16;
or.b32  	%r19, %r75, 64;
cvt.u16.u32 	%rs56, %r19;
bra.uni 	LBB9_47;
LBB9_44:
bfe.u32 	%r72, %r17, 16, 1;
add.s32 	%r73, %r17, %r72;
add.s32 	%r74, %r73, 32767;
shr.u32 	%r18, %r74, 16;
cvt.u16.u32 	%rs56, %r18;
LBB9_47:
@%p4 bra 	LBB9_51;
bra.uni 	LBB9_48;
LBB9_51:
cvt.rn.f16.f32 %rs57, %f6;
bra.uni 	LBB9_52;
LBB9_48:
mov.b32 	%r21, %f6;
and.b32  	%r76, %r21, 2147483647;
setp.gt.u32 	%p15, %r76, 2139095040;
@%p15 bra 	LBB9_50;
bra.uni 	LBB9_49;
LBB9_50:
shr.u32 	%r80, %r21, 16;
or.b32  	%r23, %r80, 64;
cvt.u16.u32 	%rs57, %r23;
bra.uni 	LBB9_52;
LBB9_49:
bfe.u32 	%r77, %r21, 16, 1;
add.s32 	%r78, %r21, %r77;
add.s32 	%r79, %r78, 32767;
shr.u32 	%r22, %r79, 16;
cvt.u16.u32 	%rs57, %r22;
LBB9_52:
@%p4 bra 	LBB9_56;
bra.uni 	LBB9_53;
LBB9_56:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB9_57;
LBB9_53:
mov.b32 	%r25, %f7;
and.b32  	%r81, %r25, 2147483647;
setp.gt.u32 	%p17, %r81, 2139095040;
@%p17 bra 	LBB9_55;
bra.uni 	LBB9_54;
LBB9_55:
shr.u32 	%r85, %r25, 16;
or.b32  	%r27, %r85, 64;
cvt.u16.u32 	%rs58, %r27;
bra.uni 	LBB9_57;
LBB9_54:
bfe.u32 	%r82, %r25, 16, 1;
add.s32 	%r83, %r25, %r82;
add.s32 	%r84, %r83, 32767;
shr.u32 	%r26, %r84, 16;
cvt.u16.u32 	%rs58, %r26;
LBB9_57:
@%p4 bra 	LBB9_61;
bra.uni 	LBB9_58;
LBB9_61:
cvt.rn.f16.f32 %rs59, %f8;
bra.uni 	LBB9_62;
LBB9_58:
mov.b32 	%r29, %f8;
and.b32  	%r86, %r29, 2147483647;
setp.gt.u32 	%p19, %r86, 2139095040;
@%p19 bra 	LBB9_60;
bra.uni 	LBB9_59;
LBB9_60:
shr.u32 	%r90, %r29, 16;
or.b32  	%r31, %r90, 64;
cvt.u16.u32 	%rs59, %r31;
bra.uni 	LBB9_62;
LBB9_59:
bfe.u32 	%r87, %r29, 16, 1;
add.s32 	%r88, %r29, %r87;
add.s32 	%r89, %r88, 32767;
shr.u32 	%r30, %r89, 16;
cvt.u16.u32 	%rs59, %r30;
LBB9_62:
shl.b64 	%rd44, %rd5, 1;
add.s64 	%rd12, %rd1, %rd44;
setp.lt.u64 	%p20, %rd10, 8;
@%p20 bra 	LBB9_64;
bra.uni 	LBB9_63;
LBB9_64:
setp.eq.s64 	%p21, %rd10, 0;
@%p21 bra 	LBB9_66;
st.global.u16 	[%rd12], %rs3;
LBB9_66:
setp.lt.u64 	%p22, %rd10, 2;
@%p22 bra 	LBB9_68;
st.global.u16 	[%rd12+2], %rs53;
LBB9_68:
setp.lt.u64 	%p23, %rd10, 3;
@%p23 bra 	LBB9_70;
st.global.u16 	[%rd12+4], %rs54;
LBB9_70:
setp.lt.u64 	%p24, %rd10, 4;
@%p24 bra 	LBB9_72;
st.global.u16 	[%rd12+6], %rs55;
LBB9_72:
setp.lt.u64 	%p25, %rd10, 5;
@%p25 bra 	LBB9_74;
st.global.u16 	[%rd12+8], %rs56;
LBB9_74:
setp.lt.u64 	%p26, %rd10, 6;
@%p26 bra 	LBB9_76;
st.global.u16 	[%rd12+10], %rs57;
LBB9_76:
setp.lt.u64 	%p27, %rd10, 7;
@%p27 bra 	LBB9_78;
st.global.u16 	[%rd12+12], %rs58;
bra.uni 	LBB9_78;
LBB9_63:
cvt.u32.u16 	%r91, %rs3;
cvt.u32.u16 	%r92, %rs53;
shl.b32 	%r93, %r92, 16;
or.b32  	%r94, %r93, %r91;
cvt.u32.u16 	%r95, %rs54;
cvt.u32.u16 	%r96, %rs55;
shl.b32 	%r97, %r96, 16;
or.b32  	%r98, %r97, %r95;
cvt.u32.u16 	%r99, %rs56;
cvt.u32.u16 	%r100, %rs57;
shl.b32 	%r101, %r100, 16;
or.b32  	%r102, %r101, %r99;
cvt.u32.u16 	%r103, %rs58;
cvt.u32.u16 	%r104, %rs59;
shl.b32 	%r105, %r104, 16;
or.b32  	%r106, %r105, %r103;
st.global.v4.u32 	[%rd12], {%r94, %r98, %r102, %r106};
LBB9_78:
ret;
}
)ptx";
constexpr char k_mcf_k3[] = R"ptx(.visible .entry mcf_k3(
.param .u64 mcf_k3_param_0,
.param .u64 mcf_k3_param_1,
.param .u64 mcf_k3_param_2,
.param .u64 mcf_k3_param_3,
.param .u64 mcf_k3_param_4,
.param .u64 mcf_k3_param_5,
.param .u64 mcf_k3_param_6,
.param .u64 mcf_k3_param_7,
.param .u64 mcf_k3_param_8
)
{
.reg .pred 	%p<36>;
.reg .b16 	%rs<60>;
.reg .b32 	%r<127>;
.reg .f32 	%f<29>;
.reg .b64 	%rd<47>;
ld.param.u64 	%rd15, [mcf_k3_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd21, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd22, %r35;
add.s64 	%rd23, %rd21, %rd22;
shl.b64 	%rd5, %rd23, 3;
setp.ge.u64 	%p1, %rd5, %rd15;
@%p1 bra 	LBB10_78;
ld.param.u64 	%rd16, [mcf_k3_param_8];
ld.param.u64 	%rd14, [mcf_k3_param_6];
ld.param.u64 	%rd13, [mcf_k3_param_5];
ld.param.u64 	%rd17, [mcf_k3_param_0];
ld.param.u64 	%rd18, [mcf_k3_param_3];
ld.param.u64 	%rd19, [mcf_k3_param_1];
ld.param.u64 	%rd20, [mcf_k3_param_2];
cvta.to.global.u64 	%rd2, %rd20;
cvta.to.global.u64 	%rd3, %rd19;
cvta.to.global.u64 	%rd4, %rd17;
or.b64  	%rd24, %rd5, %rd13;
and.b64  	%rd25, %rd24, -4294967296;
setp.ne.s64 	%p2, %rd25, 0;
@%p2 bra 	LBB10_3;
bra.uni 	LBB10_2;
LBB10_3:
div.u64 	%rd46, %rd5, %rd13;
bra.uni 	LBB10_4;
LBB10_2:
cvt.u32.u64 	%r36, %rd13;
cvt.u32.u64 	%r37, %rd5;
div.u32 	%r38, %r37, %r36;
cvt.u64.u32 	%rd46, %r38;
LBB10_4:
cvta.to.global.u64 	%rd1, %rd18;
mul.lo.s64 	%rd26, %rd46, %rd13;
sub.s64 	%rd27, %rd5, %rd26;
shr.u64 	%rd28, %rd27, 5;
mul.lo.s64 	%rd29, %rd46, %rd14;
mul.lo.s64 	%rd30, %rd29, 12;
add.s64 	%rd31, %rd4, %rd30;
add.s64 	%rd32, %rd14, 7;
shr.u64 	%rd33, %rd32, 3;
mul.lo.s64 	%rd34, %rd46, %rd33;
shr.u64 	%rd35, %rd27, 8;
add.s64 	%rd36, %rd35, %rd34;
shl.b64 	%rd37, %rd36, 1;
add.s64 	%rd38, %rd3, %rd37;
ld.global.u8 	%rs26, [%rd38];
ld.global.u8 	%rs27, [%rd38+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
add.s64 	%rd39, %rd28, %rd29;
add.s64 	%rd40, %rd2, %rd39;
ld.global.u8 	%rs29, [%rd40];
cvt.rn.f32.u16 	%f10, %rs29;
mul.rn.f32 	%f11, %f10, 0f3D000000;
mul.lo.s64 	%rd41, %rd27, 3;
shr.u64 	%rd42, %rd41, 3;
add.s64 	%rd43, %rd31, %rd42;
ld.global.u8 	%r39, [%rd43];
ld.global.u8 	%r40, [%rd43+1];
ld.global.u8 	%r41, [%rd43+2];
mul.rn.f32 	%f12, %f9, %f11;
bfe.s32 	%r42, %r39, 0, 3;
cvt.rn.f32.s32 	%f13, %r42;
mul.rn.f32 	%f1, %f12, %f13;
bfe.s32 	%r43, %r39, 3, 3;
cvt.rn.f32.s32 	%f14, %r43;
mul.rn.f32 	%f2, %f12, %f14;
shl.b32 	%r44, %r40, 31;
shl.b32 	%r45, %r39, 23;
or.b32  	%r46, %r44, %r45;
shr.s32 	%r47, %r46, 29;
cvt.rn.f32.s32 	%f15, %r47;
mul.rn.f32 	%f3, %f12, %f15;
bfe.s32 	%r48, %r40, 1, 3;
cvt.rn.f32.s32 	%f16, %r48;
mul.rn.f32 	%f4, %f12, %f16;
bfe.s32 	%r49, %r40, 4, 3;
cvt.rn.f32.s32 	%f17, %r49;
mul.rn.f32 	%f5, %f12, %f17;
shl.b32 	%r50, %r41, 30;
shl.b32 	%r51, %r40, 22;
or.b32  	%r52, %r50, %r51;
shr.s32 	%r53, %r52, 29;
cvt.rn.f32.s32 	%f18, %r53;
mul.rn.f32 	%f6, %f12, %f18;
bfe.s32 	%r54, %r41, 2, 3;
cvt.rn.f32.s32 	%f19, %r54;
mul.rn.f32 	%f7, %f12, %f19;
bfe.s32 	%r55, %r41, 5, 3;
cvt.rn.f32.s32 	%f20, %r55;
mul.rn.f32 	%f8, %f12, %f20;
sub.s64 	%rd10, %rd15, %rd5;
setp.ne.s64 	%p3, %rd16, 0;
@%p3 bra 	LBB10_22;
bra.uni 	LBB10_5;
LBB10_22:
setp.eq.s64 	%p4, %rd16, 1;
@%p4 bra 	LBB10_21;
bra.uni 	LBB10_23;
LBB10_21:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB10_27;
LBB10_5:
shl.b64 	%rd45, %rd5, 2;
add.s64 	%rd11, %rd1, %rd45;
setp.gt.u64 	%p28, %rd10, 7;
@%p28 bra 	LBB10_20;
setp.eq.s64 	%p29, %rd10, 0;
@%p29 bra 	LBB10_8;
st.global.f32 	[%rd11], %f1;
LBB10_8:
setp.lt.u64 	%p30, %rd10, 2;
@%p30 bra 	LBB10_10;
st.global.f32 	[%rd11+4], %f2;
LBB10_10:
setp.lt.u64 	%p31, %rd10, 3;
@%p31 bra 	LBB10_12;
st.global.f32 	[%rd11+8], %f3;
LBB10_12:
setp.lt.u64 	%p32, %rd10, 4;
@%p32 bra 	LBB10_14;
st.global.f32 	[%rd11+12], %f4;
LBB10_14:
setp.lt.u64 	%p33, %rd10, 5;
@%p33 bra 	LBB10_16;
st.global.f32 	[%rd11+16], %f5;
LBB10_16:
setp.lt.u64 	%p34, %rd10, 6;
@%p34 bra 	LBB10_18;
st.global.f32 	[%rd11+20], %f6;
LBB10_18:
setp.lt.u64 	%p35, %rd10, 7;
@%p35 bra 	LBB10_78;
st.global.f32 	[%rd11+24], %f7;
bra.uni 	LBB10_78;
LBB10_23:
mov.b32 	%r1, %f1;
and.b32  	%r56, %r1, 2147483647;
setp.lt.u32 	%p5, %r56, 2139095041;
@%p5 bra 	LBB10_25;
shr.u32 	%r60, %r1, 16;
or.b32  	%r126, %r60, 64;
bra.uni 	LBB10_26;
LBB10_20:
st.global.v4.f32 	[%rd11], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd11+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB10_78;
LBB10_25:
bfe.u32 	%r57, %r1, 16, 1;
add.s32 	%r58, %r1, %r57;
add.s32 	%r59, %r58, 32767;
shr.u32 	%r126, %r59, 16;
LBB10_26:
cvt.u16.u32 	%rs3, %r126;
LBB10_27:
@%p4 bra 	LBB10_31;
bra.uni 	LBB10_28;
LBB10_31:
cvt.rn.f16.f32 %rs53, %f2;
bra.uni 	LBB10_32;
LBB10_28:
mov.b32 	%r5, %f2;
and.b32  	%r61, %r5, 2147483647;
setp.gt.u32 	%p7, %r61, 2139095040;
@%p7 bra 	LBB10_30;
bra.uni 	LBB10_29;
LBB10_30:
shr.u32 	%r65, %r5, 16;
or.b32  	%r7, %r65, 64;
cvt.u16.u32 	%rs53, %r7;
bra.uni 	LBB10_32;
LBB10_29:
bfe.u32 	%r62, %r5, 16, 1;
add.s32 	%r63, %r5, %r62;
add.s32 	%r64, %r63, 32767;
shr.u32 	%r6, %r64, 16;
cvt.u16.u32 	%rs53, %r6;
LBB10_32:
@%p4 bra 	LBB10_36;
bra.uni 	LBB10_33;
LBB10_36:
cvt.rn.f16.f32 %rs54, %f3;
bra.uni 	LBB10_37;
LBB10_33:
mov.b32 	%r9, %f3;
and.b32  	%r66, %r9, 2147483647;
setp.gt.u32 	%p9, %r66, 2139095040;
@%p9 bra 	LBB10_35;
bra.uni 	LBB10_34;
LBB10_35:
shr.u32 	%r70, %r9, 16;
or.b32  	%r11, %r70, 64;
cvt.u16.u32 	%rs54, %r11;
bra.uni 	LBB10_37;
LBB10_34:
bfe.u32 	%r67, %r9, 16, 1;
add.s32 	%r68, %r9, %r67;
add.s32 	%r69, %r68, 32767;
shr.u32 	%r10, %r69, 16;
cvt.u16.u32 	%rs54, %r10;
LBB10_37:
@%p4 bra 	LBB10_41;
bra.uni 	LBB10_38;
LBB10_41:
cvt.rn.f16.f32 %rs55, %f4;
bra.uni 	LBB10_42;
LBB10_38:
mov.b32 	%r13, %f4;
and.b32  	%r71, %r13, 2147483647;
setp.gt.u32 	%p11, %r71, 2139095040;
@%p11 bra 	LBB10_40;
bra.uni 	LBB10_39;
LBB10_40:
shr.u32 	%r75, %r13, 16;
or.b32  	%r15, %r75, 64;
cvt.u16.u32 	%rs55, %r15;
bra.uni 	LBB10_42;
LBB10_39:
bfe.u32 	%r72, %r13, 16, 1;
add.s32 	%r73, %r13, %r72;
add.s32 	%r74, %r73, 32767;
shr.u32 	%r14, %r74, 16;
cvt.u16.u32 	%rs55, %r14;
LBB10_42:
@%p4 bra 	LBB10_46;
bra.uni 	LBB10_43;
LBB10_46:
cvt.rn.f16.f32 %rs56, %f5;
bra.uni 	LBB10_47;
LBB10_43:
mov.b32 	%r17, %f5;
and.b32  	%r76, %r17, 2147483647;
setp.gt.u32 	%p13, %r76, 2139095040;
@%p13 bra 	LBB10_45;
bra.uni 	LBB10_44;
LBB10_45:
shr.u32 	%r80, %r17, 16;
or.b32  	%r19, %r80, 64;
cvt.u16.u32 	%rs56, %r19;
bra.uni 	LBB10_47;
LBB10_44:
bfe.u32 	%r77, %r17, 16, 1;
add.s32 	%r78, %r17, %r77;
add.s32 	%r79, %r78, 32767;
shr.u32 	%r18, %r79, 16;
cvt.u16.u32 	%rs56, %r18;
LBB10_47:
@%p4 bra 	LBB10_51;
bra.uni 	LBB10_48;
LBB10_51:
cvt.rn.f16.f32 %rs57, %f6;
bra.uni 	LBB10_52;
LBB10_48:
mov.b32 	%r21, %f6;
and.b32  	%r81, %r21, 2147483647;
setp.gt.u32 	%p15, %r81, 2139095040;
@%p15 bra 	LBB10_50;
bra.uni 	LBB10_49;
LBB10_50:
shr.u32 	%r85, %r21, 16;
or.b32  	%r23, %r85, 64;
cvt.u16.u32 	%rs57, %r23;
bra.uni 	LBB10_52;
LBB10_49:
bfe.u32 	%r82, %r21, 16, 1;
add.s32 	%r83, %r21, %r82;
add.s32 	%r84, %r83, 32767;
shr.u32 	%r22, %r84, 16;
cvt.u16.u32 	%rs57, %r22;
LBB10_52:
@%p4 bra 	LBB10_56;
bra.uni 	LBB10_53;
LBB10_56:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB10_57;
LBB10_53:
mov.b32 	%r25, %f7;
and.b32  	%r86, %r25, 2147483647;
setp.gt.u32 	%p17, %r86, 2139095040;
@%p17 bra 	LBB10_55;
bra.uni 	LBB10_54;
LBB10_55:
shr.u32 	%r90, %r25, 16;
or.b32  	%r27, %r90, 64;
cvt.u16.u32 	%rs58, %r27;
bra.uni 	LBB10_57;
LBB10_54:
bfe.u32 	%r87, %r25, 16, 1;
add.s32 	%r88, %r25, %r87;
add.s32 	%r89, %r88, 32767;
shr.u32 	%r26, %r89, 16;
cvt.u16.u32 	%rs58, %r26;
LBB10_57:
@%p4 bra 	LBB10_61;
bra.uni 	LBB10_58;
LBB10_61:
cvt.rn.f16.f32 %rs59, %f8;
bra.uni 	LBB10_62;
LBB10_58:
mov.b32 	%r29, %f8;
and.b32  	%r91, %r29, 2147483647;
setp.gt.u32 	%p19, %r91, 2139095040;
@%p19 bra 	LBB10_60;
bra.uni 	LBB10_59;
LBB10_60:
shr.u32 	%r95, %r29, 16;
or.b32  	%r31, %r95, 64;
cvt.u16.u32 	%rs59, %r31;
bra.uni 	LBB10_62;
LBB10_59:
bfe.u32 	%r92, %r29, 16, 1;
add.s32 	%r93, %r29, %r92;
add.s32 	%r94, %r93, 32767;
shr.u32 	%r30, %r94, 16;
cvt.u16.u32 	%rs59, %r30;
LBB10_62:
shl.b64 	%rd44, %rd5, 1;
add.s64 	%rd12, %rd1, %rd44;
setp.lt.u64 	%p20, %rd10, 8;
@%p20 bra 	LBB10_64;
bra.uni 	LBB10_63;
LBB10_64:
setp.eq.s64 	%p21, %rd10, 0;
@%p21 bra 	LBB10_66;
st.global.u16 	[%rd12], %rs3;
LBB10_66:
setp.lt.u64 	%p22, %rd10, 2;
@%p22 bra 	LBB10_68;
st.global.u16 	[%rd12+2], %rs53;
LBB10_68:
setp.lt.u64 	%p23, %rd10, 3;
@%p23 bra 	LBB10_70;
st.global.u16 	[%rd12+4], %rs54;
LBB10_70:
setp.lt.u64 	%p24, %rd10, 4;
@%p24 bra 	LBB10_72;
st.global.u16 	[%rd12+6], %rs55;
LBB10_72:
setp.lt.u64 	%p25, %rd10, 5;
@%p25 bra 	LBB10_74;
st.global.u16 	[%rd12+8], %rs56;
LBB10_74:
setp.lt.u64 	%p26, %rd10, 6;
@%p26 bra 	LBB10_76;
st.global.u16 	[%rd12+10], %rs57;
LBB10_76:
setp.lt.u64 	%p27, %rd10, 7;
@%p27 bra 	LBB10_78;
st.global.u16 	[%rd12+12], %rs58;
bra.uni 	LBB10_78;
LBB10_63:
cvt.u32.u16 	%r96, %rs3;
cvt.u32.u16 	%r97, %rs53;
shl.b32 	%r98, %r97, 16;
or.b32  	%r99, %r98, %r96;
cvt.u32.u16 	%r100, %rs54;
cvt.u32.u16 	%r101, %rs55;
shl.b32 	%r102, %r101, 16;
or.b32  	%r103, %r102, %r100;
cvt.u32.u16 	%r104, %rs56;
cvt.u32.u16 	%r105, %rs57;
shl.b32 	%r106, %r105, 16;
or.b32  	%r107, %r106, %r104;
cvt.u32.u16 	%r108, %rs58;
cvt.u32.u16 	%r109, %rs59;
shl.b32 	%r110, %r109, 16;
or.b32  	%r111, %r110, %r108;
st.global.v4.u32 	[%rd12], {%r99, %r103, %r107, %r111};
LBB10_78:
ret;
}
)ptx";
constexpr char k_mcf_k2[] = R"ptx(.visible .entry mcf_k2(
.param .u64 mcf_k2_param_0,
.param .u64 mcf_k2_param_1,
.param .u64 mcf_k2_param_2,
.param .u64 mcf_k2_param_3,
.param .u64 mcf_k2_param_4,
.param .u64 mcf_k2_param_5,
.param .u64 mcf_k2_param_6,
.param .u64 mcf_k2_param_7,
.param .u64 mcf_k2_param_8
)
{
.reg .pred 	%p<36>;
.reg .b16 	%rs<60>;
.reg .b32 	%r<120>;
.reg .f32 	%f<29>;
.reg .b64 	%rd<47>;
ld.param.u64 	%rd15, [mcf_k2_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd21, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd22, %r35;
add.s64 	%rd23, %rd21, %rd22;
shl.b64 	%rd5, %rd23, 3;
setp.ge.u64 	%p1, %rd5, %rd15;
@%p1 bra 	LBB11_78;
ld.param.u64 	%rd16, [mcf_k2_param_8];
ld.param.u64 	%rd14, [mcf_k2_param_6];
ld.param.u64 	%rd13, [mcf_k2_param_5];
ld.param.u64 	%rd17, [mcf_k2_param_0];
ld.param.u64 	%rd18, [mcf_k2_param_3];
ld.param.u64 	%rd19, [mcf_k2_param_1];
ld.param.u64 	%rd20, [mcf_k2_param_2];
cvta.to.global.u64 	%rd2, %rd20;
cvta.to.global.u64 	%rd3, %rd19;
cvta.to.global.u64 	%rd4, %rd17;
or.b64  	%rd24, %rd5, %rd13;
and.b64  	%rd25, %rd24, -4294967296;
setp.ne.s64 	%p2, %rd25, 0;
@%p2 bra 	LBB11_3;
bra.uni 	LBB11_2;
LBB11_3:
div.u64 	%rd46, %rd5, %rd13;
bra.uni 	LBB11_4;
LBB11_2:
cvt.u32.u64 	%r36, %rd13;
cvt.u32.u64 	%r37, %rd5;
div.u32 	%r38, %r37, %r36;
cvt.u64.u32 	%rd46, %r38;
LBB11_4:
cvta.to.global.u64 	%rd1, %rd18;
mul.lo.s64 	%rd26, %rd46, %rd13;
sub.s64 	%rd27, %rd5, %rd26;
shr.u64 	%rd28, %rd27, 5;
mul.lo.s64 	%rd29, %rd46, %rd14;
shl.b64 	%rd30, %rd29, 3;
add.s64 	%rd31, %rd4, %rd30;
add.s64 	%rd32, %rd14, 7;
shr.u64 	%rd33, %rd32, 3;
mul.lo.s64 	%rd34, %rd46, %rd33;
shr.u64 	%rd35, %rd27, 8;
add.s64 	%rd36, %rd35, %rd34;
shl.b64 	%rd37, %rd36, 1;
add.s64 	%rd38, %rd3, %rd37;
ld.global.u8 	%rs26, [%rd38];
ld.global.u8 	%rs27, [%rd38+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
add.s64 	%rd39, %rd28, %rd29;
add.s64 	%rd40, %rd2, %rd39;
ld.global.u8 	%rs29, [%rd40];
cvt.rn.f32.u16 	%f10, %rs29;
mul.rn.f32 	%f11, %f10, 0f3D000000;
shr.u64 	%rd41, %rd27, 2;
and.b64  	%rd42, %rd41, 2305843009213693951;
add.s64 	%rd43, %rd31, %rd42;
ld.global.u8 	%r39, [%rd43];
ld.global.u8 	%r40, [%rd43+1];
mul.rn.f32 	%f12, %f9, %f11;
bfe.s32 	%r41, %r39, 0, 2;
cvt.rn.f32.s32 	%f13, %r41;
mul.rn.f32 	%f1, %f12, %f13;
bfe.s32 	%r42, %r39, 2, 2;
cvt.rn.f32.s32 	%f14, %r42;
mul.rn.f32 	%f2, %f12, %f14;
bfe.s32 	%r43, %r39, 4, 2;
cvt.rn.f32.s32 	%f15, %r43;
mul.rn.f32 	%f3, %f12, %f15;
bfe.s32 	%r44, %r39, 6, 2;
cvt.rn.f32.s32 	%f16, %r44;
mul.rn.f32 	%f4, %f12, %f16;
bfe.s32 	%r45, %r40, 0, 2;
cvt.rn.f32.s32 	%f17, %r45;
mul.rn.f32 	%f5, %f12, %f17;
bfe.s32 	%r46, %r40, 2, 2;
cvt.rn.f32.s32 	%f18, %r46;
mul.rn.f32 	%f6, %f12, %f18;
bfe.s32 	%r47, %r40, 4, 2;
cvt.rn.f32.s32 	%f19, %r47;
mul.rn.f32 	%f7, %f12, %f19;
bfe.s32 	%r48, %r40, 6, 2;
cvt.rn.f32.s32 	%f20, %r48;
mul.rn.f32 	%f8, %f12, %f20;
sub.s64 	%rd10, %rd15, %rd5;
setp.ne.s64 	%p3, %rd16, 0;
@%p3 bra 	LBB11_22;
bra.uni 	LBB11_5;
LBB11_22:
setp.eq.s64 	%p4, %rd16, 1;
@%p4 bra 	LBB11_21;
bra.uni 	LBB11_23;
LBB11_21:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB11_27;
LBB11_5:
shl.b64 	%rd45, %rd5, 2;
add.s64 	%rd11, %rd1, %rd45;
setp.gt.u64 	%p28, %rd10, 7;
@%p28 bra 	LBB11_20;
setp.eq.s64 	%p29, %rd10, 0;
@%p29 bra 	LBB11_8;
st.global.f32 	[%rd11], %f1;
LBB11_8:
setp.lt.u64 	%p30, %rd10, 2;
@%p30 bra 	LBB11_10;
st.global.f32 	[%rd11+4], %f2;
LBB11_10:
setp.lt.u64 	%p31, %rd10, 3;
@%p31 bra 	LBB11_12;
st.global.f32 	[%rd11+8], %f3;
LBB11_12:
setp.lt.u64 	%p32, %rd10, 4;
@%p32 bra 	LBB11_14;
st.global.f32 	[%rd11+12], %f4;
LBB11_14:
setp.lt.u64 	%p33, %rd10, 5;
@%p33 bra 	LBB11_16;
st.global.f32 	[%rd11+16], %f5;
LBB11_16:
setp.lt.u64 	%p34, %rd10, 6;
@%p34 bra 	LBB11_18;
st.global.f32 	[%rd11+20], %f6;
LBB11_18:
setp.lt.u64 	%p35, %rd10, 7;
@%p35 bra 	LBB11_78;
st.global.f32 	[%rd11+24], %f7;
bra.uni 	LBB11_78;
LBB11_23:
mov.b32 	%r1, %f1;
and.b32  	%r49, %r1, 2147483647;
setp.lt.u32 	%p5, %r49, 2139095041;
@%p5 bra 	LBB11_25;
shr.u32 	%r53, %r1, 16;
or.b32  	%r119, %r53, 64;
bra.uni 	LBB11_26;
LBB11_20:
st.global.v4.f32 	[%rd11], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd11+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB11_78;
LBB11_25:
bfe.u32 	%r50, %r1, 16, 1;
add.s32 	%r51, %r1, %r50;
add.s32 	%r52, %r51, 32767;
shr.u32 	%r119, %r52, 16;
LBB11_26:
cvt.u16.u32 	%rs3, %r119;
LBB11_27:
@%p4 bra 	LBB11_31;
bra.uni 	LBB11_28;
LBB11_31:
cvt.rn.f16.f32 %rs53, %f2;
bra.uni 	LBB11_32;
LBB11_28:
mov.b32 	%r5, %f2;
and.b32  	%r54, %r5, 2147483647;
setp.gt.u32 	%p7, %r54, 2139095040;
@%p7 bra 	LBB11_30;
bra.uni 	LBB11_29;
LBB11_30:
shr.u32 	%r58, %r5, 16;
or.b32  	%r7, %r58, 64;
cvt.u16.u32 	%rs53, %r7;
bra.uni 	LBB11_32;
LBB11_29:
bfe.u32 	%r55, %r5, 16, 1;
add.s32 	%r56, %r5, %r55;
add.s32 	%r57, %r56, 32767;
shr.u32 	%r6, %r57, 16;
cvt.u16.u32 	%rs53, %r6;
LBB11_32:
@%p4 bra 	LBB11_36;
bra.uni 	LBB11_33;
LBB11_36:
cvt.rn.f16.f32 %rs54, %f3;
bra.uni 	LBB11_37;
LBB11_33:
mov.b32 	%r9, %f3;
and.b32  	%r59, %r9, 2147483647;
setp.gt.u32 	%p9, %r59, 2139095040;
@%p9 bra 	LBB11_35;
bra.uni 	LBB11_34;
LBB11_35:
shr.u32 	%r63, %r9, 16;
or.b32  	%r11, %r63, 64;
cvt.u16.u32 	%rs54, %r11;
bra.uni 	LBB11_37;
LBB11_34:
bfe.u32 	%r60, %r9, 16, 1;
add.s32 	%r61, %r9, %r60;
add.s32 	%r62, %r61, 32767;
shr.u32 	%r10, %r62, 16;
cvt.u16.u32 	%rs54, %r10;
LBB11_37:
@%p4 bra 	LBB11_41;
bra.uni 	LBB11_38;
LBB11_41:
cvt.rn.f16.f32 %rs55, %f4;
bra.uni 	LBB11_42;
LBB11_38:
mov.b32 	%r13, %f4;
and.b32  	%r64, %r13, 2147483647;
setp.gt.u32 	%p11, %r64, 2139095040;
@%p11 bra 	LBB11_40;
bra.uni 	LBB11_39;
LBB11_40:
shr.u32 	%r68, %r13, 16;
or.b32  	%r15, %r68, 64;
cvt.u16.u32 	%rs55, %r15;
bra.uni 	LBB11_42;
LBB11_39:
bfe.u32 	%r65, %r13, 16, 1;
add.s32 	%r66, %r13, %r65;
add.s32 	%r67, %r66, 32767;
shr.u32 	%r14, %r67, 16;
cvt.u16.u32 	%rs55, %r14;
LBB11_42:
@%p4 bra 	LBB11_46;
bra.uni 	LBB11_43;
LBB11_46:
cvt.rn.f16.f32 %rs56, %f5;
bra.uni 	LBB11_47;
LBB11_43:
mov.b32 	%r17, %f5;
and.b32  	%r69, %r17, 2147483647;
setp.gt.u32 	%p13, %r69, 2139095040;
@%p13 bra 	LBB11_45;
bra.uni 	LBB11_44;
LBB11_45:
shr.u32 	%r73, %r17, 16;
or.b32  	%r19, %r73, 64;
cvt.u16.u32 	%rs56, %r19;
bra.uni 	LBB11_47;
LBB11_44:
bfe.u32 	%r70, %r17, 16, 1;
add.s32 	%r71, %r17, %r70;
add.s32 	%r72, %r71, 32767;
shr.u32 	%r18, %r72, 16;
cvt.u16.u32 	%rs56, %r18;
LBB11_47:
@%p4 bra 	LBB11_51;
bra.uni 	LBB11_48;
LBB11_51:
cvt.rn.f16.f32 %rs57, %f6;
bra.uni 	LBB11_52;
LBB11_48:
mov.b32 	%r21, %f6;
and.b32  	%r74, %r21, 2147483647;
setp.gt.u32 	%p15, %r74, 2139095040;
@%p15 bra 	LBB11_50;
bra.uni 	LBB11_49;
LBB11_50:
shr.u32 	%r78, %r21, 16;
or.b32  	%r23, %r78, 64;
cvt.u16.u32 	%rs57, %r23;
bra.uni 	LBB11_52;
LBB11_49:
bfe.u32 	%r75, %r21, 16, 1;
add.s32 	%r76, %r21, %r75;
add.s32 	%r77, %r76, 32767;
shr.u32 	%r22, %r77, 16;
cvt.u16.u32 	%rs57, %r22;
LBB11_52:
@%p4 bra 	LBB11_56;
bra.uni 	LBB11_53;
LBB11_56:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB11_57;
LBB11_53:
mov.b32 	%r25, %f7;
and.b32  	%r79, %r25, 2147483647;
setp.gt.u32 	%p17, %r79, 2139095040;
@%p17 bra 	LBB11_55;
bra.uni 	LBB11_54;
LBB11_55:
shr.u32 	%r83, %r25, 16;
or.b32  	%r27, %r83, 64;
cvt.u16.u32 	%rs58, %r27;
bra.uni 	LBB11_57;
LBB11_54:
bfe.u32 	%r80, %r25, 16, 1;
add.s32 	%r81, %r25, %r80;
add.s32 	%r82, %r81, 32767;
shr.u32 	%r26, %r82, 16;
cvt.u16.u32 	%rs58, %r26;
LBB11_57:
@%p4 bra 	LBB11_61;
bra.uni 	LBB11_58;
LBB11_61:
cvt.rn.f16.f32 %rs59, %f8;
bra.uni 	LBB11_62;
LBB11_58:
mov.b32 	%r29, %f8;
and.b32  	%r84, %r29, 2147483647;
setp.gt.u32 	%p19, %r84, 2139095040;
@%p19 bra 	LBB11_60;
bra.uni 	LBB11_59;
LBB11_60:
shr.u32 	%r88, %r29, 16;
or.b32  	%r31, %r88, 64;
cvt.u16.u32 	%rs59, %r31;
bra.uni 	LBB11_62;
LBB11_59:
bfe.u32 	%r85, %r29, 16, 1;
add.s32 	%r86, %r29, %r85;
add.s32 	%r87, %r86, 32767;
shr.u32 	%r30, %r87, 16;
cvt.u16.u32 	%rs59, %r30;
LBB11_62:
shl.b64 	%rd44, %rd5, 1;
add.s64 	%rd12, %rd1, %rd44;
setp.lt.u64 	%p20, %rd10, 8;
@%p20 bra 	LBB11_64;
bra.uni 	LBB11_63;
LBB11_64:
setp.eq.s64 	%p21, %rd10, 0;
@%p21 bra 	LBB11_66;
st.global.u16 	[%rd12], %rs3;
LBB11_66:
setp.lt.u64 	%p22, %rd10, 2;
@%p22 bra 	LBB11_68;
st.global.u16 	[%rd12+2], %rs53;
LBB11_68:
setp.lt.u64 	%p23, %rd10, 3;
@%p23 bra 	LBB11_70;
st.global.u16 	[%rd12+4], %rs54;
LBB11_70:
setp.lt.u64 	%p24, %rd10, 4;
@%p24 bra 	LBB11_72;
st.global.u16 	[%rd12+6], %rs55;
LBB11_72:
setp.lt.u64 	%p25, %rd10, 5;
@%p25 bra 	LBB11_74;
st.global.u16 	[%rd12+8], %rs56;
LBB11_74:
setp.lt.u64 	%p26, %rd10, 6;
@%p26 bra 	LBB11_76;
st.global.u16 	[%rd12+10], %rs57;
LBB11_76:
setp.lt.u64 	%p27, %rd10, 7;
@%p27 bra 	LBB11_78;
st.global.u16 	[%rd12+12], %rs58;
bra.uni 	LBB11_78;
LBB11_63:
cvt.u32.u16 	%r89, %rs3;
cvt.u32.u16 	%r90, %rs53;
shl.b32 	%r91, %r90, 16;
or.b32  	%r92, %r91, %r89;
cvt.u32.u16 	%r93, %rs54;
cvt.u32.u16 	%r94, %rs55;
shl.b32 	%r95, %r94, 16;
or.b32  	%r96, %r95, %r93;
cvt.u32.u16 	%r97, %rs56;
cvt.u32.u16 	%r98, %rs57;
shl.b32 	%r99, %r98, 16;
or.b32  	%r100, %r99, %r97;
cvt.u32.u16 	%r101, %rs58;
cvt.u32.u16 	%r102, %rs59;
shl.b32 	%r103, %r102, 16;
or.b32  	%r104, %r103, %r101;
st.global.v4.u32 	[%rd12], {%r92, %r96, %r100, %r104};
LBB11_78:
ret;
}
)ptx";
constexpr char k_ggml_q4_0[] = R"ptx(.visible .entry ggml_q4_0(
.param .u64 ggml_q4_0_param_0,
.param .u64 ggml_q4_0_param_1,
.param .u64 ggml_q4_0_param_2,
.param .u64 ggml_q4_0_param_3,
.param .u64 ggml_q4_0_param_4,
.param .u64 ggml_q4_0_param_5,
.param .u64 ggml_q4_0_param_6,
.param .u64 ggml_q4_0_param_7,
.param .u64 ggml_q4_0_param_8
)
{
.reg .pred 	%p<43>;
.reg .b16 	%rs<59>;
.reg .b32 	%r<149>;
.reg .f32 	%f<26>;
.reg .b64 	%rd<21>;
ld.param.u64 	%rd7, [ggml_q4_0_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB12_75;
ld.param.u64 	%rd8, [ggml_q4_0_param_8];
ld.param.u64 	%rd9, [ggml_q4_0_param_0];
ld.param.u64 	%rd10, [ggml_q4_0_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 5;
mul.lo.s64 	%rd15, %rd14, 18;
add.s64 	%rd16, %rd2, %rd15;
ld.global.u8 	%rs26, [%rd16];
ld.global.u8 	%rs27, [%rd16+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
and.b64  	%rd17, %rd3, 8;
add.s64 	%rd18, %rd16, %rd17;
cvt.u32.u64 	%r36, %rd3;
and.b32  	%r37, %r36, 24;
ld.global.u8 	%r38, [%rd18+2];
setp.lt.u32 	%p2, %r37, 16;
selp.b32 	%r39, 0, 4, %p2;
shr.u32 	%r40, %r38, %r39;
and.b32  	%r41, %r40, 15;
add.s32 	%r42, %r41, -8;
cvt.rn.f32.s32 	%f10, %r42;
mul.rn.f32 	%f1, %f9, %f10;
ld.global.u8 	%r43, [%rd18+3];
setp.lt.u32 	%p3, %r37, 15;
selp.b32 	%r44, 0, 4, %p3;
shr.u32 	%r45, %r43, %r44;
and.b32  	%r46, %r45, 15;
add.s32 	%r47, %r46, -8;
cvt.rn.f32.s32 	%f11, %r47;
mul.rn.f32 	%f2, %f9, %f11;
ld.global.u8 	%r48, [%rd18+4];
setp.lt.u32 	%p4, %r37, 14;
selp.b32 	%r49, 0, 4, %p4;
shr.u32 	%r50, %r48, %r49;
and.b32  	%r51, %r50, 15;
add.s32 	%r52, %r51, -8;
cvt.rn.f32.s32 	%f12, %r52;
mul.rn.f32 	%f3, %f9, %f12;
ld.global.u8 	%r53, [%rd18+5];
setp.lt.u32 	%p5, %r37, 13;
selp.b32 	%r54, 0, 4, %p5;
shr.u32 	%r55, %r53, %r54;
and.b32  	%r56, %r55, 15;
add.s32 	%r57, %r56, -8;
cvt.rn.f32.s32 	%f13, %r57;
mul.rn.f32 	%f4, %f9, %f13;
ld.global.u8 	%r58, [%rd18+6];
setp.lt.u32 	%p6, %r37, 12;
selp.b32 	%r59, 0, 4, %p6;
shr.u32 	%r60, %r58, %r59;
and.b32  	%r61, %r60, 15;
add.s32 	%r62, %r61, -8;
cvt.rn.f32.s32 	%f14, %r62;
mul.rn.f32 	%f5, %f9, %f14;
ld.global.u8 	%r63, [%rd18+7];
setp.lt.u32 	%p7, %r37, 11;
selp.b32 	%r64, 0, 4, %p7;
shr.u32 	%r65, %r63, %r64;
and.b32  	%r66, %r65, 15;
add.s32 	%r67, %r66, -8;
cvt.rn.f32.s32 	%f15, %r67;
mul.rn.f32 	%f6, %f9, %f15;
ld.global.u8 	%r68, [%rd18+8];
setp.lt.u32 	%p8, %r37, 10;
selp.b32 	%r69, 0, 4, %p8;
shr.u32 	%r70, %r68, %r69;
and.b32  	%r71, %r70, 15;
add.s32 	%r72, %r71, -8;
cvt.rn.f32.s32 	%f16, %r72;
mul.rn.f32 	%f7, %f9, %f16;
ld.global.u8 	%r73, [%rd18+9];
setp.lt.u32 	%p9, %r37, 9;
selp.b32 	%r74, 0, 4, %p9;
shr.u32 	%r75, %r73, %r74;
and.b32  	%r76, %r75, 15;
add.s32 	%r77, %r76, -8;
cvt.rn.f32.s32 	%f17, %r77;
mul.rn.f32 	%f8, %f9, %f17;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p10, %rd8, 0;
@%p10 bra 	LBB12_19;
bra.uni 	LBB12_2;
LBB12_19:
setp.eq.s64 	%p11, %rd8, 1;
@%p11 bra 	LBB12_18;
bra.uni 	LBB12_20;
LBB12_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB12_24;
LBB12_2:
shl.b64 	%rd20, %rd3, 2;
add.s64 	%rd5, %rd1, %rd20;
setp.gt.u64 	%p35, %rd4, 7;
@%p35 bra 	LBB12_17;
setp.eq.s64 	%p36, %rd4, 0;
@%p36 bra 	LBB12_5;
st.global.f32 	[%rd5], %f1;
LBB12_5:
setp.lt.u64 	%p37, %rd4, 2;
@%p37 bra 	LBB12_7;
st.global.f32 	[%rd5+4], %f2;
LBB12_7:
setp.lt.u64 	%p38, %rd4, 3;
@%p38 bra 	LBB12_9;
st.global.f32 	[%rd5+8], %f3;
LBB12_9:
setp.lt.u64 	%p39, %rd4, 4;
@%p39 bra 	LBB12_11;
st.global.f32 	[%rd5+12], %f4;
LBB12_11:
setp.lt.u64 	%p40, %rd4, 5;
@%p40 bra 	LBB12_13;
st.global.f32 	[%rd5+16], %f5;
LBB12_13:
setp.lt.u64 	%p41, %rd4, 6;
@%p41 bra 	LBB12_15;
st.global.f32 	[%rd5+20], %f6;
LBB12_15:
setp.lt.u64 	%p42, %rd4, 7;
@%p42 bra 	LBB12_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB12_75;
LBB12_20:
mov.b32 	%r1, %f1;
and.b32  	%r78, %r1, 2147483647;
setp.lt.u32 	%p12, %r78, 2139095041;
@%p12 bra 	LBB12_22;
shr.u32 	%r82, %r1, 16;
or.b32  	%r148, %r82, 64;
bra.uni 	LBB12_23;
LBB12_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB12_75;
LBB12_22:
bfe.u32 	%r79, %r1, 16, 1;
add.s32 	%r80, %r1, %r79;
add.s32 	%r81, %r80, 32767;
shr.u32 	%r148, %r81, 16;
LBB12_23:
cvt.u16.u32 	%rs3, %r148;
LBB12_24:
@%p11 bra 	LBB12_28;
bra.uni 	LBB12_25;
LBB12_28:
cvt.rn.f16.f32 %rs52, %f2;
bra.uni 	LBB12_29;
LBB12_25:
mov.b32 	%r5, %f2;
and.b32  	%r83, %r5, 2147483647;
setp.gt.u32 	%p14, %r83, 2139095040;
@%p14 bra 	LBB12_27;
bra.uni 	LBB12_26;
LBB12_27:
shr.u32 	%r87, %r5, 16;
or.b32  	%r7, %r87, 64;
cvt.u16.u32 	%rs52, %r7;
bra.uni 	LBB12_29;
LBB12_26:
bfe.u32 	%r84, %r5, 16, 1;
add.s32 	%r85, %r5, %r84;
add.s32 	%r86, %r85, 32767;
shr.u32 	%r6, %r86, 16;
cvt.u16.u32 	%rs52, %r6;
LBB12_29:
@%p11 bra 	LBB12_33;
bra.uni 	LBB12_30;
LBB12_33:
cvt.rn.f16.f32 %rs53, %f3;
bra.uni 	LBB12_34;
LBB12_30:
mov.b32 	%r9, %f3;
and.b32  	%r88, %r9, 2147483647;
setp.gt.u32 	%p16, %r88, 2139095040;
@%p16 bra 	LBB12_32;
bra.uni 	LBB12_31;
LBB12_32:
shr.u32 	%r92, %r9, 16;
or.b32  	%r11, %r92, 64;
cvt.u16.u32 	%rs53, %r11;
bra.uni 	LBB12_34;
LBB12_31:
bfe.u32 	%r89, %r9, 16, 1;
add.s32 	%r90, %r9, %r89;
add.s32 	%r91, %r90, 32767;
shr.u32 	%r10, %r91, 16;
cvt.u16.u32 	%rs53, %r10;
LBB12_34:
@%p11 bra 	LBB12_38;
bra.uni 	LBB12_35;
LBB12_38:
cvt.rn.f16.f32 %rs54, %f4;
bra.uni 	LBB12_39;
LBB12_35:
mov.b32 	%r13, %f4;
and.b32  	%r93, %r13, 2147483647;
setp.gt.u32 	%p18, %r93, 2139095040;
@%p18 bra 	LBB12_37;
bra.uni 	LBB12_36;
LBB12_37:
shr.u32 	%r97, %r13, 16;
or.b32  	%r15, %r97, 64;
cvt.u16.u32 	%rs54, %r15;
bra.uni 	LBB12_39;
LBB12_36:
bfe.u32 	%r94, %r13, 16, 1;
add.s32 	%r95, %r13, %r94;
add.s32 	%r96, %r95, 32767;
shr.u32 	%r14, %r96, 16;
cvt.u16.u32 	%rs54, %r14;
LBB12_39:
@%p11 bra 	LBB12_43;
bra.uni 	LBB12_40;
LBB12_43:
cvt.rn.f16.f32 %rs55, %f5;
bra.uni 	LBB12_44;
LBB12_40:
mov.b32 	%r17, %f5;
and.b32  	%r98, %r17, 2147483647;
setp.gt.u32 	%p20, %r98, 2139095040;
@%p20 bra 	LBB12_42;
bra.uni 	LBB12_41;
LBB12_42:
shr.u32 	%r102, %r17, 16;
or.b32  	%r19, %r102, 64;
cvt.u16.u32 	%rs55, %r19;
bra.uni 	LBB12_44;
LBB12_41:
bfe.u32 	%r99, %r17, 16, 1;
add.s32 	%r100, %r17, %r99;
add.s32 	%r101, %r100, 32767;
shr.u32 	%r18, %r101, 16;
cvt.u16.u32 	%rs55, %r18;
LBB12_44:
@%p11 bra 	LBB12_48;
bra.uni 	LBB12_45;
LBB12_48:
cvt.rn.f16.f32 %rs56, %f6;
bra.uni 	LBB12_49;
LBB12_45:
mov.b32 	%r21, %f6;
and.b32  	%r103, %r21, 2147483647;
setp.gt.u32 	%p22, %r103, 2139095040;
@%p22 bra 	LBB12_47;
bra.uni 	LBB12_46;
LBB12_47:
shr.u32 	%r107, %r21, 16;
or.b32  	%r23, %r107, 64;
cvt.u16.u32 	%rs56, %r23;
bra.uni 	LBB12_49;
LBB12_46:
bfe.u32 	%r104, %r21, 16, 1;
add.s32 	%r105, %r21, %r104;
add.s32 	%r106, %r105, 32767;
shr.u32 	%r22, %r106, 16;
cvt.u16.u32 	%rs56, %r22;
LBB12_49:
@%p11 bra 	LBB12_53;
bra.uni 	LBB12_50;
LBB12_53:
cvt.rn.f16.f32 %rs57, %f7;
bra.uni 	LBB12_54;
LBB12_50:
mov.b32 	%r25, %f7;
and.b32  	%r108, %r25, 2147483647;
setp.gt.u32 	%p24, %r108, 2139095040;
@%p24 bra 	LBB12_52;
bra.uni 	LBB12_51;
LBB12_52:
shr.u32 	%r112, %r25, 16;
or.b32  	%r27, %r112, 64;
cvt.u16.u32 	%rs57, %r27;
bra.uni 	LBB12_54;
LBB12_51:
bfe.u32 	%r109, %r25, 16, 1;
add.s32 	%r110, %r25, %r109;
add.s32 	%r111, %r110, 32767;
shr.u32 	%r26, %r111, 16;
cvt.u16.u32 	%rs57, %r26;
LBB12_54:
@%p11 bra 	LBB12_58;
bra.uni 	LBB12_55;
LBB12_58:
cvt.rn.f16.f32 %rs58, %f8;
bra.uni 	LBB12_59;
LBB12_55:
mov.b32 	%r29, %f8;
and.b32  	%r113, %r29, 2147483647;
setp.gt.u32 	%p26, %r113, 2139095040;
@%p26 bra 	LBB12_57;
bra.uni 	LBB12_56;
LBB12_57:
shr.u32 	%r117, %r29, 16;
or.b32  	%r31, %r117, 64;
cvt.u16.u32 	%rs58, %r31;
bra.uni 	LBB12_59;
LBB12_56:
bfe.u32 	%r114, %r29, 16, 1;
add.s32 	%r115, %r29, %r114;
add.s32 	%r116, %r115, 32767;
shr.u32 	%r30, %r116, 16;
cvt.u16.u32 	%rs58, %r30;
LBB12_59:
shl.b64 	%rd19, %rd3, 1;
add.s64 	%rd6, %rd1, %rd19;
setp.lt.u64 	%p27, %rd4, 8;
@%p27 bra 	LBB12_61;
bra.uni 	LBB12_60;
LBB12_61:
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB12_63;
st.global.u16 	[%rd6], %rs3;
LBB12_63:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB12_65;
st.global.u16 	[%rd6+2], %rs52;
LBB12_65:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB12_67;
st.global.u16 	[%rd6+4], %rs53;
LBB12_67:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB12_69;
st.global.u16 	[%rd6+6], %rs54;
LBB12_69:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB12_71;
st.global.u16 	[%rd6+8], %rs55;
LBB12_71:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB12_73;
st.global.u16 	[%rd6+10], %rs56;
LBB12_73:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB12_75;
st.global.u16 	[%rd6+12], %rs57;
bra.uni 	LBB12_75;
LBB12_60:
cvt.u32.u16 	%r118, %rs3;
cvt.u32.u16 	%r119, %rs52;
shl.b32 	%r120, %r119, 16;
or.b32  	%r121, %r120, %r118;
cvt.u32.u16 	%r122, %rs53;
cvt.u32.u16 	%r123, %rs54;
shl.b32 	%r124, %r123, 16;
or.b32  	%r125, %r124, %r122;
cvt.u32.u16 	%r126, %rs55;
cvt.u32.u16 	%r127, %rs56;
shl.b32 	%r128, %r127, 16;
or.b32  	%r129, %r128, %r126;
cvt.u32.u16 	%r130, %rs57;
cvt.u32.u16 	%r131, %rs58;
shl.b32 	%r132, %r131, 16;
or.b32  	%r133, %r132, %r130;
st.global.v4.u32 	[%rd6], {%r121, %r125, %r129, %r133};
LBB12_75:
ret;
}
)ptx";
constexpr char k_ggml_q4_1[] = R"ptx(.visible .entry ggml_q4_1(
.param .u64 ggml_q4_1_param_0,
.param .u64 ggml_q4_1_param_1,
.param .u64 ggml_q4_1_param_2,
.param .u64 ggml_q4_1_param_3,
.param .u64 ggml_q4_1_param_4,
.param .u64 ggml_q4_1_param_5,
.param .u64 ggml_q4_1_param_6,
.param .u64 ggml_q4_1_param_7,
.param .u64 ggml_q4_1_param_8
)
{
.reg .pred 	%p<43>;
.reg .b16 	%rs<63>;
.reg .b32 	%r<141>;
.reg .f32 	%f<35>;
.reg .b64 	%rd<21>;
ld.param.u64 	%rd7, [ggml_q4_1_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB13_75;
ld.param.u64 	%rd8, [ggml_q4_1_param_8];
ld.param.u64 	%rd9, [ggml_q4_1_param_0];
ld.param.u64 	%rd10, [ggml_q4_1_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 5;
mul.lo.s64 	%rd15, %rd14, 20;
add.s64 	%rd16, %rd2, %rd15;
ld.global.u8 	%rs27, [%rd16];
ld.global.u8 	%rs28, [%rd16+1];
shl.b16 	%rs29, %rs28, 8;
or.b16  	%rs25, %rs29, %rs27;
cvt.f32.f16 %f9, %rs25;
ld.global.u8 	%rs30, [%rd16+2];
ld.global.u8 	%rs31, [%rd16+3];
shl.b16 	%rs32, %rs31, 8;
or.b16  	%rs26, %rs32, %rs30;
cvt.f32.f16 %f10, %rs26;
and.b64  	%rd17, %rd3, 8;
add.s64 	%rd18, %rd16, %rd17;
cvt.u32.u64 	%r36, %rd3;
and.b32  	%r37, %r36, 24;
ld.global.u8 	%r38, [%rd18+4];
setp.lt.u32 	%p2, %r37, 16;
selp.b32 	%r39, 0, 4, %p2;
shr.u32 	%r40, %r38, %r39;
and.b32  	%r41, %r40, 15;
cvt.rn.f32.u32 	%f11, %r41;
mul.rn.f32 	%f12, %f9, %f11;
add.rn.f32 	%f1, %f10, %f12;
ld.global.u8 	%r42, [%rd18+5];
setp.lt.u32 	%p3, %r37, 15;
selp.b32 	%r43, 0, 4, %p3;
shr.u32 	%r44, %r42, %r43;
and.b32  	%r45, %r44, 15;
cvt.rn.f32.u32 	%f13, %r45;
mul.rn.f32 	%f14, %f9, %f13;
add.rn.f32 	%f2, %f10, %f14;
ld.global.u8 	%r46, [%rd18+6];
setp.lt.u32 	%p4, %r37, 14;
selp.b32 	%r47, 0, 4, %p4;
shr.u32 	%r48, %r46, %r47;
and.b32  	%r49, %r48, 15;
cvt.rn.f32.u32 	%f15, %r49;
mul.rn.f32 	%f16, %f9, %f15;
add.rn.f32 	%f3, %f10, %f16;
ld.global.u8 	%r50, [%rd18+7];
setp.lt.u32 	%p5, %r37, 13;
selp.b32 	%r51, 0, 4, %p5;
shr.u32 	%r52, %r50, %r51;
and.b32  	%r53, %r52, 15;
cvt.rn.f32.u32 	%f17, %r53;
mul.rn.f32 	%f18, %f9, %f17;
add.rn.f32 	%f4, %f10, %f18;
ld.global.u8 	%r54, [%rd18+8];
setp.lt.u32 	%p6, %r37, 12;
selp.b32 	%r55, 0, 4, %p6;
shr.u32 	%r56, %r54, %r55;
and.b32  	%r57, %r56, 15;
cvt.rn.f32.u32 	%f19, %r57;
mul.rn.f32 	%f20, %f9, %f19;
add.rn.f32 	%f5, %f10, %f20;
ld.global.u8 	%r58, [%rd18+9];
setp.lt.u32 	%p7, %r37, 11;
selp.b32 	%r59, 0, 4, %p7;
shr.u32 	%r60, %r58, %r59;
and.b32  	%r61, %r60, 15;
cvt.rn.f32.u32 	%f21, %r61;
mul.rn.f32 	%f22, %f9, %f21;
add.rn.f32 	%f6, %f10, %f22;
ld.global.u8 	%r62, [%rd18+10];
setp.lt.u32 	%p8, %r37, 10;
selp.b32 	%r63, 0, 4, %p8;
shr.u32 	%r64, %r62, %r63;
and.b32  	%r65, %r64, 15;
cvt.rn.f32.u32 	%f23, %r65;
mul.rn.f32 	%f24, %f9, %f23;
add.rn.f32 	%f7, %f10, %f24;
ld.global.u8 	%r66, [%rd18+11];
setp.lt.u32 	%p9, %r37, 9;
selp.b32 	%r67, 0, 4, %p9;
shr.u32 	%r68, %r66, %r67;
and.b32  	%r69, %r68, 15;
cvt.rn.f32.u32 	%f25, %r69;
mul.rn.f32 	%f26, %f9, %f25;
add.rn.f32 	%f8, %f10, %f26;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p10, %rd8, 0;
@%p10 bra 	LBB13_19;
bra.uni 	LBB13_2;
LBB13_19:
setp.eq.s64 	%p11, %rd8, 1;
@%p11 bra 	LBB13_18;
bra.uni 	LBB13_20;
LBB13_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB13_24;
LBB13_2:
shl.b64 	%rd20, %rd3, 2;
add.s64 	%rd5, %rd1, %rd20;
setp.gt.u64 	%p35, %rd4, 7;
@%p35 bra 	LBB13_17;
setp.eq.s64 	%p36, %rd4, 0;
@%p36 bra 	LBB13_5;
st.global.f32 	[%rd5], %f1;
LBB13_5:
setp.lt.u64 	%p37, %rd4, 2;
@%p37 bra 	LBB13_7;
st.global.f32 	[%rd5+4], %f2;
LBB13_7:
setp.lt.u64 	%p38, %rd4, 3;
@%p38 bra 	LBB13_9;
st.global.f32 	[%rd5+8], %f3;
LBB13_9:
setp.lt.u64 	%p39, %rd4, 4;
@%p39 bra 	LBB13_11;
st.global.f32 	[%rd5+12], %f4;
LBB13_11:
setp.lt.u64 	%p40, %rd4, 5;
@%p40 bra 	LBB13_13;
st.global.f32 	[%rd5+16], %f5;
LBB13_13:
setp.lt.u64 	%p41, %rd4, 6;
@%p41 bra 	LBB13_15;
st.global.f32 	[%rd5+20], %f6;
LBB13_15:
setp.lt.u64 	%p42, %rd4, 7;
@%p42 bra 	LBB13_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB13_75;
LBB13_20:
mov.b32 	%r1, %f1;
and.b32  	%r70, %r1, 2147483647;
setp.lt.u32 	%p12, %r70, 2139095041;
@%p12 bra 	LBB13_22;
shr.u32 	%r74, %r1, 16;
or.b32  	%r140, %r74, 64;
bra.uni 	LBB13_23;
LBB13_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB13_75;
LBB13_22:
bfe.u32 	%r71, %r1, 16, 1;
add.s32 	%r72, %r1, %r71;
add.s32 	%r73, %r72, 32767;
shr.u32 	%r140, %r73, 16;
LBB13_23:
cvt.u16.u32 	%rs3, %r140;
LBB13_24:
@%p11 bra 	LBB13_28;
bra.uni 	LBB13_25;
LBB13_28:
cvt.rn.f16.f32 %rs56, %f2;
bra.uni 	LBB13_29;
LBB13_25:
mov.b32 	%r5, %f2;
and.b32  	%r75, %r5, 2147483647;
setp.gt.u32 	%p14, %r75, 2139095040;
@%p14 bra 	LBB13_27;
bra.uni 	LBB13_26;
LBB13_27:
shr.u32 	%r79, %r5, 16;
or.b32  	%r7, %r79, 64;
cvt.u16.u32 	%rs56, %r7;
bra.uni 	LBB13_29;
LBB13_26:
bfe.u32 	%r76, %r5, 16, 1;
add.s32 	%r77, %r5, %r76;
add.s32 	%r78, %r77, 32767;
shr.u32 	%r6, %r78, 16;
cvt.u16.u32 	%rs56, %r6;
LBB13_29:
@%p11 bra 	LBB13_33;
bra.uni 	LBB13_30;
LBB13_33:
cvt.rn.f16.f32 %rs57, %f3;
bra.uni 	LBB13_34;
LBB13_30:
mov.b32 	%r9, %f3;
and.b32  	%r80, %r9, 2147483647;
setp.gt.u32 	%p16, %r80, 2139095040;
@%p16 bra 	LBB13_32;
bra.uni 	LBB13_31;
LBB13_32:
shr.u32 	%r84, %r9, 16;
or.b32  	%r11, %r84, 64;
cvt.u16.u32 	%rs57, %r11;
bra.uni 	LBB13_34;
LBB13_31:
bfe.u32 	%r81, %r9, 16, 1;
add.s32 	%r82, %r9, %r81;
add.s32 	%r83, %r82, 32767;
shr.u32 	%r10, %r83, 16;
cvt.u16.u32 	%rs57, %r10;
LBB13_34:
@%p11 bra 	LBB13_38;
bra.uni 	LBB13_35;
LBB13_38:
cvt.rn.f16.f32 %rs58, %f4;
bra.uni 	LBB13_39;
LBB13_35:
mov.b32 	%r13, %f4;
and.b32  	%r85, %r13, 2147483647;
setp.gt.u32 	%p18, %r85, 2139095040;
@%p18 bra 	LBB13_37;
bra.uni 	LBB13_36;
LBB13_37:
shr.u32 	%r89, %r13, 16;
or.b32  	%r15, %r89, 64;
cvt.u16.u32 	%rs58, %r15;
bra.uni 	LBB13_39;
LBB13_36:
bfe.u32 	%r86, %r13, 16, 1;
add.s32 	%r87, %r13, %r86;
add.s32 	%r88, %r87, 32767;
shr.u32 	%r14, %r88, 16;
cvt.u16.u32 	%rs58, %r14;
LBB13_39:
@%p11 bra 	LBB13_43;
bra.uni 	LBB13_40;
LBB13_43:
cvt.rn.f16.f32 %rs59, %f5;
bra.uni 	LBB13_44;
LBB13_40:
mov.b32 	%r17, %f5;
and.b32  	%r90, %r17, 2147483647;
setp.gt.u32 	%p20, %r90, 2139095040;
@%p20 bra 	LBB13_42;
bra.uni 	LBB13_41;
LBB13_42:
shr.u32 	%r94, %r17, 16;
or.b32  	%r19, %r94, 64;
cvt.u16.u32 	%rs59, %r19;
bra.uni 	LBB13_44;
LBB13_41:
bfe.u32 	%r91, %r17, 16, 1;
add.s32 	%r92, %r17, %r91;
add.s32 	%r93, %r92, 32767;
shr.u32 	%r18, %r93, 16;
cvt.u16.u32 	%rs59, %r18;
LBB13_44:
@%p11 bra 	LBB13_48;
bra.uni 	LBB13_45;
LBB13_48:
cvt.rn.f16.f32 %rs60, %f6;
bra.uni 	LBB13_49;
LBB13_45:
mov.b32 	%r21, %f6;
and.b32  	%r95, %r21, 2147483647;
setp.gt.u32 	%p22, %r95, 2139095040;
@%p22 bra 	LBB13_47;
bra.uni 	LBB13_46;
LBB13_47:
shr.u32 	%r99, %r21, 16;
or.b32  	%r23, %r99, 64;
cvt.u16.u32 	%rs60, %r23;
bra.uni 	LBB13_49;
LBB13_46:
bfe.u32 	%r96, %r21, 16, 1;
add.s32 	%r97, %r21, %r96;
add.s32 	%r98, %r97, 32767;
shr.u32 	%r22, %r98, 16;
cvt.u16.u32 	%rs60, %r22;
LBB13_49:
@%p11 bra 	LBB13_53;
bra.uni 	LBB13_50;
LBB13_53:
cvt.rn.f16.f32 %rs61, %f7;
bra.uni 	LBB13_54;
LBB13_50:
mov.b32 	%r25, %f7;
and.b32  	%r100, %r25, 2147483647;
setp.gt.u32 	%p24, %r100, 2139095040;
@%p24 bra 	LBB13_52;
bra.uni 	LBB13_51;
LBB13_52:
shr.u32 	%r104, %r25, 16;
or.b32  	%r27, %r104, 64;
cvt.u16.u32 	%rs61, %r27;
bra.uni 	LBB13_54;
LBB13_51:
bfe.u32 	%r101, %r25, 16, 1;
add.s32 	%r102, %r25, %r101;
add.s32 	%r103, %r102, 32767;
shr.u32 	%r26, %r103, 16;
cvt.u16.u32 	%rs61, %r26;
LBB13_54:
@%p11 bra 	LBB13_58;
bra.uni 	LBB13_55;
LBB13_58:
cvt.rn.f16.f32 %rs62, %f8;
bra.uni 	LBB13_59;
LBB13_55:
mov.b32 	%r29, %f8;
and.b32  	%r105, %r29, 2147483647;
setp.gt.u32 	%p26, %r105, 2139095040;
@%p26 bra 	LBB13_57;
bra.uni 	LBB13_56;
LBB13_57:
shr.u32 	%r109, %r29, 16;
or.b32  	%r31, %r109, 64;
cvt.u16.u32 	%rs62, %r31;
bra.uni 	LBB13_59;
LBB13_56:
bfe.u32 	%r106, %r29, 16, 1;
add.s32 	%r107, %r29, %r106;
add.s32 	%r108, %r107, 32767;
shr.u32 	%r30, %r108, 16;
cvt.u16.u32 	%rs62, %r30;
LBB13_59:
shl.b64 	%rd19, %rd3, 1;
add.s64 	%rd6, %rd1, %rd19;
setp.lt.u64 	%p27, %rd4, 8;
@%p27 bra 	LBB13_61;
bra.uni 	LBB13_60;
LBB13_61:
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB13_63;
st.global.u16 	[%rd6], %rs3;
LBB13_63:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB13_65;
st.global.u16 	[%rd6+2], %rs56;
LBB13_65:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB13_67;
st.global.u16 	[%rd6+4], %rs57;
LBB13_67:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB13_69;
st.global.u16 	[%rd6+6], %rs58;
LBB13_69:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB13_71;
st.global.u16 	[%rd6+8], %rs59;
LBB13_71:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB13_73;
st.global.u16 	[%rd6+10], %rs60;
LBB13_73:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB13_75;
st.global.u16 	[%rd6+12], %rs61;
bra.uni 	LBB13_75;
LBB13_60:
cvt.u32.u16 	%r110, %rs3;
cvt.u32.u16 	%r111, %rs56;
shl.b32 	%r112, %r111, 16;
or.b32  	%r113, %r112, %r110;
cvt.u32.u16 	%r114, %rs57;
cvt.u32.u16 	%r115, %rs58;
shl.b32 	%r116, %r115, 16;
or.b32  	%r117, %r116, %r114;
cvt.u32.u16 	%r118, %rs59;
cvt.u32.u16 	%r119, %rs60;
shl.b32 	%r120, %r119, 16;
or.b32  	%r121, %r120, %r118;
cvt.u32.u16 	%r122, %rs61;
cvt.u32.u16 	%r123, %rs62;
shl.b32 	%r124, %r123, 16;
or.b32  	%r125, %r124, %r122;
st.global.v4.u32 	[%rd6], {%r113, %r117, %r121, %r125};
LBB13_75:
ret;
}
)ptx";
constexpr char k_ggml_q5_0[] = R"ptx(.visible .entry ggml_q5_0(
.param .u64 ggml_q5_0_param_0,
.param .u64 ggml_q5_0_param_1,
.param .u64 ggml_q5_0_param_2,
.param .u64 ggml_q5_0_param_3,
.param .u64 ggml_q5_0_param_4,
.param .u64 ggml_q5_0_param_5,
.param .u64 ggml_q5_0_param_6,
.param .u64 ggml_q5_0_param_7,
.param .u64 ggml_q5_0_param_8
)
{
.reg .pred 	%p<43>;
.reg .b16 	%rs<60>;
.reg .b32 	%r<204>;
.reg .f32 	%f<26>;
.reg .b64 	%rd<36>;
ld.param.u64 	%rd7, [ggml_q5_0_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB14_75;
ld.param.u64 	%rd8, [ggml_q5_0_param_8];
ld.param.u64 	%rd9, [ggml_q5_0_param_0];
ld.param.u64 	%rd10, [ggml_q5_0_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 5;
mul.lo.s64 	%rd15, %rd14, 22;
add.s64 	%rd16, %rd2, %rd15;
ld.global.u8 	%rs26, [%rd16];
ld.global.u8 	%rs27, [%rd16+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
ld.global.u8 	%r36, [%rd16+2];
ld.global.u8 	%rs29, [%rd16+3];
mul.wide.u16 	%r37, %rs29, 256;
ld.global.u8 	%r38, [%rd16+4];
ld.global.u8 	%r39, [%rd16+5];
shl.b32 	%r40, %r39, 24;
shl.b32 	%r41, %r38, 16;
or.b32  	%r42, %r37, %r36;
or.b32  	%r43, %r42, %r41;
or.b32  	%r44, %r43, %r40;
cvt.u32.u64 	%r45, %rd3;
and.b32  	%r46, %r45, 24;
add.s64 	%rd17, %rd16, 6;
and.b64  	%rd18, %rd3, 8;
add.s64 	%rd19, %rd17, %rd18;
ld.global.u8 	%r47, [%rd19];
setp.lt.u32 	%p2, %r46, 16;
selp.b32 	%r48, 0, 4, %p2;
shr.u32 	%r49, %r47, %r48;
and.b32  	%r50, %r49, 15;
shr.u32 	%r51, %r44, %r46;
shl.b32 	%r52, %r51, 4;
and.b32  	%r53, %r52, 16;
or.b32  	%r54, %r53, %r50;
add.s32 	%r55, %r54, -16;
cvt.rn.f32.s32 	%f10, %r55;
mul.rn.f32 	%f1, %f9, %f10;
or.b32  	%r56, %r46, 1;
and.b32  	%r57, %r56, 9;
cvt.u64.u32 	%rd20, %r57;
add.s64 	%rd21, %rd17, %rd20;
ld.global.u8 	%r58, [%rd21];
setp.lt.u32 	%p3, %r46, 15;
selp.b32 	%r59, 0, 4, %p3;
shr.u32 	%r60, %r58, %r59;
and.b32  	%r61, %r60, 15;
shr.u32 	%r62, %r44, %r56;
shl.b32 	%r63, %r62, 4;
and.b32  	%r64, %r63, 16;
or.b32  	%r65, %r64, %r61;
add.s32 	%r66, %r65, -16;
cvt.rn.f32.s32 	%f11, %r66;
mul.rn.f32 	%f2, %f9, %f11;
or.b32  	%r67, %r46, 2;
and.b32  	%r68, %r67, 10;
cvt.u64.u32 	%rd22, %r68;
add.s64 	%rd23, %rd17, %rd22;
ld.global.u8 	%r69, [%rd23];
setp.lt.u32 	%p4, %r46, 14;
selp.b32 	%r70, 0, 4, %p4;
shr.u32 	%r71, %r69, %r70;
and.b32  	%r72, %r71, 15;
shr.u32 	%r73, %r44, %r67;
shl.b32 	%r74, %r73, 4;
and.b32  	%r75, %r74, 16;
or.b32  	%r76, %r75, %r72;
add.s32 	%r77, %r76, -16;
cvt.rn.f32.s32 	%f12, %r77;
mul.rn.f32 	%f3, %f9, %f12;
or.b32  	%r78, %r46, 3;
and.b32  	%r79, %r78, 11;
cvt.u64.u32 	%rd24, %r79;
add.s64 	%rd25, %rd17, %rd24;
ld.global.u8 	%r80, [%rd25];
setp.lt.u32 	%p5, %r46, 13;
selp.b32 	%r81, 0, 4, %p5;
shr.u32 	%r82, %r80, %r81;
and.b32  	%r83, %r82, 15;
shr.u32 	%r84, %r44, %r78;
shl.b32 	%r85, %r84, 4;
and.b32  	%r86, %r85, 16;
or.b32  	%r87, %r86, %r83;
add.s32 	%r88, %r87, -16;
cvt.rn.f32.s32 	%f13, %r88;
mul.rn.f32 	%f4, %f9, %f13;
or.b32  	%r89, %r46, 4;
and.b32  	%r90, %r89, 12;
cvt.u64.u32 	%rd26, %r90;
add.s64 	%rd27, %rd17, %rd26;
ld.global.u8 	%r91, [%rd27];
setp.lt.u32 	%p6, %r46, 12;
selp.b32 	%r92, 0, 4, %p6;
shr.u32 	%r93, %r91, %r92;
and.b32  	%r94, %r93, 15;
shr.u32 	%r95, %r44, %r89;
shl.b32 	%r96, %r95, 4;
and.b32  	%r97, %r96, 16;
or.b32  	%r98, %r97, %r94;
add.s32 	%r99, %r98, -16;
cvt.rn.f32.s32 	%f14, %r99;
mul.rn.f32 	%f5, %f9, %f14;
or.b32  	%r100, %r46, 5;
and.b32  	%r101, %r100, 13;
cvt.u64.u32 	%rd28, %r101;
add.s64 	%rd29, %rd17, %rd28;
ld.global.u8 	%r102, [%rd29];
setp.lt.u32 	%p7, %r46, 11;
selp.b32 	%r103, 0, 4, %p7;
shr.u32 	%r104, %r102, %r103;
and.b32  	%r105, %r104, 15;
shr.u32 	%r106, %r44, %r100;
shl.b32 	%r107, %r106, 4;
and.b32  	%r108, %r107, 16;
or.b32  	%r109, %r108, %r105;
add.s32 	%r110, %r109, -16;
cvt.rn.f32.s32 	%f15, %r110;
mul.rn.f32 	%f6, %f9, %f15;
or.b32  	%r111, %r46, 6;
and.b32  	%r112, %r111, 14;
cvt.u64.u32 	%rd30, %r112;
add.s64 	%rd31, %rd17, %rd30;
ld.global.u8 	%r113, [%rd31];
setp.lt.u32 	%p8, %r46, 10;
selp.b32 	%r114, 0, 4, %p8;
shr.u32 	%r115, %r113, %r114;
and.b32  	%r116, %r115, 15;
shr.u32 	%r117, %r44, %r111;
shl.b32 	%r118, %r117, 4;
and.b32  	%r119, %r118, 16;
or.b32  	%r120, %r119, %r116;
add.s32 	%r121, %r120, -16;
cvt.rn.f32.s32 	%f16, %r121;
mul.rn.f32 	%f7, %f9, %f16;
or.b32  	%r122, %r46, 7;
and.b32  	%r123, %r122, 15;
cvt.u64.u32 	%rd32, %r123;
add.s64 	%rd33, %rd17, %rd32;
ld.global.u8 	%r124, [%rd33];
setp.lt.u32 	%p9, %r46, 9;
selp.b32 	%r125, 0, 4, %p9;
shr.u32 	%r126, %r124, %r125;
and.b32  	%r127, %r126, 15;
shr.u32 	%r128, %r44, %r122;
shl.b32 	%r129, %r128, 4;
and.b32  	%r130, %r129, 16;
or.b32  	%r131, %r130, %r127;
add.s32 	%r132, %r131, -16;
cvt.rn.f32.s32 	%f17, %r132;
mul.rn.f32 	%f8, %f9, %f17;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p10, %rd8, 0;
@%p10 bra 	LBB14_19;
bra.uni 	LBB14_2;
LBB14_19:
setp.eq.s64 	%p11, %rd8, 1;
@%p11 bra 	LBB14_18;
bra.uni 	LBB14_20;
LBB14_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB14_24;
LBB14_2:
shl.b64 	%rd35, %rd3, 2;
add.s64 	%rd5, %rd1, %rd35;
setp.gt.u64 	%p35, %rd4, 7;
@%p35 bra 	LBB14_17;
setp.eq.s64 	%p36, %rd4, 0;
@%p36 bra 	LBB14_5;
st.global.f32 	[%rd5], %f1;
LBB14_5:
setp.lt.u64 	%p37, %rd4, 2;
@%p37 bra 	LBB14_7;
st.global.f32 	[%rd5+4], %f2;
LBB14_7:
setp.lt.u64 	%p38, %rd4, 3;
@%p38 bra 	LBB14_9;
st.global.f32 	[%rd5+8], %f3;
LBB14_9:
setp.lt.u64 	%p39, %rd4, 4;
@%p39 bra 	LBB14_11;
st.global.f32 	[%rd5+12], %f4;
LBB14_11:
setp.lt.u64 	%p40, %rd4, 5;
@%p40 bra 	LBB14_13;
st.global.f32 	[%rd5+16], %f5;
LBB14_13:
setp.lt.u64 	%p41, %rd4, 6;
@%p41 bra 	LBB14_15;
st.global.f32 	[%rd5+20], %f6;
LBB14_15:
setp.lt.u64 	%p42, %rd4, 7;
@%p42 bra 	LBB14_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB14_75;
LBB14_20:
mov.b32 	%r1, %f1;
and.b32  	%r133, %r1, 2147483647;
setp.lt.u32 	%p12, %r133, 2139095041;
@%p12 bra 	LBB14_22;
shr.u32 	%r137, %r1, 16;
or.b32  	%r203, %r137, 64;
bra.uni 	LBB14_23;
LBB14_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB14_75;
LBB14_22:
bfe.u32 	%r134, %r1, 16, 1;
add.s32 	%r135, %r1, %r134;
add.s32 	%r136, %r135, 32767;
shr.u32 	%r203, %r136, 16;
LBB14_23:
cvt.u16.u32 	%rs3, %r203;
LBB14_24:
@%p11 bra 	LBB14_28;
bra.uni 	LBB14_25;
LBB14_28:
cvt.rn.f16.f32 %rs53, %f2;
bra.uni 	LBB14_29;
LBB14_25:
mov.b32 	%r5, %f2;
and.b32  	%r138, %r5, 2147483647;
setp.gt.u32 	%p14, %r138, 2139095040;
@%p14 bra 	LBB14_27;
bra.uni 	LBB14_26;
LBB14_27:
shr.u32 	%r142, %r5, 16;
or.b32  	%r7, %r142, 64;
cvt.u16.u32 	%rs53, %r7;
bra.uni 	LBB14_29;
LBB14_26:
bfe.u32 	%r139, %r5, 16, 1;
add.s32 	%r140, %r5, %r139;
add.s32 	%r141, %r140, 32767;
shr.u32 	%r6, %r141, 16;
cvt.u16.u32 	%rs53, %r6;
LBB14_29:
@%p11 bra 	LBB14_33;
bra.uni 	LBB14_30;
LBB14_33:
cvt.rn.f16.f32 %rs54, %f3;
bra.uni 	LBB14_34;
LBB14_30:
mov.b32 	%r9, %f3;
and.b32  	%r143, %r9, 2147483647;
setp.gt.u32 	%p16, %r143, 2139095040;
@%p16 bra 	LBB14_32;
bra.uni 	LBB14_31;
LBB14_32:
shr.u32 	%r147, %r9, 16;
or.b32  	%r11, %r147, 64;
cvt.u16.u32 	%rs54, %r11;
bra.uni 	LBB14_34;
LBB14_31:
bfe.u32 	%r144, %r9, 16, 1;
add.s32 	%r145, %r9, %r144;
add.s32 	%r146, %r145, 32767;
shr.u32 	%r10, %r146, 16;
cvt.u16.u32 	%rs54, %r10;
LBB14_34:
@%p11 bra 	LBB14_38;
bra.uni 	LBB14_35;
LBB14_38:
cvt.rn.f16.f32 %rs55, %f4;
bra.uni 	LBB14_39;
LBB14_35:
mov.b32 	%r13, %f4;
and.b32  	%r148, %r13, 2147483647;
setp.gt.u32 	%p18, %r148, 2139095040;
@%p18 bra 	LBB14_37;
bra.uni 	LBB14_36;
LBB14_37:
shr.u32 	%r152, %r13, 16;
or.b32  	%r15, %r152, 64;
cvt.u16.u32 	%rs55, %r15;
bra.uni 	LBB14_39;
LBB14_36:
bfe.u32 	%r149, %r13, 16, 1;
add.s32 	%r150, %r13, %r149;
add.s32 	%r151, %r150, 32767;
shr.u32 	%r14, %r151, 16;
cvt.u16.u32 	%rs55, %r14;
LBB14_39:
@%p11 bra 	LBB14_43;
bra.uni 	LBB14_40;
LBB14_43:
cvt.rn.f16.f32 %rs56, %f5;
bra.uni 	LBB14_44;
LBB14_40:
mov.b32 	%r17, %f5;
and.b32  	%r153, %r17, 2147483647;
setp.gt.u32 	%p20, %r153, 2139095040;
@%p20 bra 	LBB14_42;
bra.uni 	LBB14_41;
LBB14_42:
shr.u32 	%r157, %r17, 16;
or.b32  	%r19, %r157, 64;
cvt.u16.u32 	%rs56, %r19;
bra.uni 	LBB14_44;
LBB14_41:
bfe.u32 	%r154, %r17, 16, 1;
add.s32 	%r155, %r17, %r154;
add.s32 	%r156, %r155, 32767;
shr.u32 	%r18, %r156, 16;
cvt.u16.u32 	%rs56, %r18;
LBB14_44:
@%p11 bra 	LBB14_48;
bra.uni 	LBB14_45;
LBB14_48:
cvt.rn.f16.f32 %rs57, %f6;
bra.uni 	LBB14_49;
LBB14_45:
mov.b32 	%r21, %f6;
and.b32  	%r158, %r21, 2147483647;
setp.gt.u32 	%p22, %r158, 2139095040;
@%p22 bra 	LBB14_47;
bra.uni 	LBB14_46;
LBB14_47:
shr.u32 	%r162, %r21, 16;
or.b32  	%r23, %r162, 64;
cvt.u16.u32 	%rs57, %r23;
bra.uni 	LBB14_49;
LBB14_46:
bfe.u32 	%r159, %r21, 16, 1;
add.s32 	%r160, %r21, %r159;
add.s32 	%r161, %r160, 32767;
shr.u32 	%r22, %r161, 16;
cvt.u16.u32 	%rs57, %r22;
LBB14_49:
@%p11 bra 	LBB14_53;
bra.uni 	LBB14_50;
LBB14_53:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB14_54;
LBB14_50:
mov.b32 	%r25, %f7;
and.b32  	%r163, %r25, 2147483647;
setp.gt.u32 	%p24, %r163, 2139095040;
@%p24 bra 	LBB14_52;
bra.uni 	LBB14_51;
LBB14_52:
shr.u32 	%r167, %r25, 16;
or.b32  	%r27, %r167, 64;
cvt.u16.u32 	%rs58, %r27;
bra.uni 	LBB14_54;
LBB14_51:
bfe.u32 	%r164, %r25, 16, 1;
add.s32 	%r165, %r25, %r164;
add.s32 	%r166, %r165, 32767;
shr.u32 	%r26, %r166, 16;
cvt.u16.u32 	%rs58, %r26;
LBB14_54:
@%p11 bra 	LBB14_58;
bra.uni 	LBB14_55;
LBB14_58:
cvt.rn.f16.f32 %rs59, %f8;
bra.uni 	LBB14_59;
LBB14_55:
mov.b32 	%r29, %f8;
and.b32  	%r168, %r29, 2147483647;
setp.gt.u32 	%p26, %r168, 2139095040;
@%p26 bra 	LBB14_57;
bra.uni 	LBB14_56;
LBB14_57:
shr.u32 	%r172, %r29, 16;
or.b32  	%r31, %r172, 64;
cvt.u16.u32 	%rs59, %r31;
bra.uni 	LBB14_59;
LBB14_56:
bfe.u32 	%r169, %r29, 16, 1;
add.s32 	%r170, %r29, %r169;
add.s32 	%r171, %r170, 32767;
shr.u32 	%r30, %r171, 16;
cvt.u16.u32 	%rs59, %r30;
LBB14_59:
shl.b64 	%rd34, %rd3, 1;
add.s64 	%rd6, %rd1, %rd34;
setp.lt.u64 	%p27, %rd4, 8;
@%p27 bra 	LBB14_61;
bra.uni 	LBB14_60;
LBB14_61:
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB14_63;
st.global.u16 	[%rd6], %rs3;
LBB14_63:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB14_65;
st.global.u16 	[%rd6+2], %rs53;
LBB14_65:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB14_67;
st.global.u16 	[%rd6+4], %rs54;
LBB14_67:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB14_69;
st.global.u16 	[%rd6+6], %rs55;
LBB14_69:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB14_71;
st.global.u16 	[%rd6+8], %rs56;
LBB14_71:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB14_73;
st.global.u16 	[%rd6+10], %rs57;
LBB14_73:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB14_75;
st.global.u16 	[%rd6+12], %rs58;
bra.uni 	LBB14_75;
LBB14_60:
cvt.u32.u16 	%r173, %rs3;
cvt.u32.u16 	%r174, %rs53;
shl.b32 	%r175, %r174, 16;
or.b32  	%r176, %r175, %r173;
cvt.u32.u16 	%r177, %rs54;
cvt.u32.u16 	%r178, %rs55;
shl.b32 	%r179, %r178, 16;
or.b32  	%r180, %r179, %r177;
cvt.u32.u16 	%r181, %rs56;
cvt.u32.u16 	%r182, %rs57;
shl.b32 	%r183, %r182, 16;
or.b32  	%r184, %r183, %r181;
cvt.u32.u16 	%r185, %rs58;
cvt.u32.u16 	%r186, %rs59;
shl.b32 	%r187, %r186, 16;
or.b32  	%r188, %r187, %r185;
st.global.v4.u32 	[%rd6], {%r176, %r180, %r184, %r188};
LBB14_75:
ret;
}
)ptx";
constexpr char k_ggml_q5_1[] = R"ptx(.visible .entry ggml_q5_1(
.param .u64 ggml_q5_1_param_0,
.param .u64 ggml_q5_1_param_1,
.param .u64 ggml_q5_1_param_2,
.param .u64 ggml_q5_1_param_3,
.param .u64 ggml_q5_1_param_4,
.param .u64 ggml_q5_1_param_5,
.param .u64 ggml_q5_1_param_6,
.param .u64 ggml_q5_1_param_7,
.param .u64 ggml_q5_1_param_8
)
{
.reg .pred 	%p<43>;
.reg .b16 	%rs<64>;
.reg .b32 	%r<196>;
.reg .f32 	%f<35>;
.reg .b64 	%rd<36>;
ld.param.u64 	%rd7, [ggml_q5_1_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB15_75;
ld.param.u64 	%rd8, [ggml_q5_1_param_8];
ld.param.u64 	%rd9, [ggml_q5_1_param_0];
ld.param.u64 	%rd10, [ggml_q5_1_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 5;
mul.lo.s64 	%rd15, %rd14, 24;
add.s64 	%rd16, %rd2, %rd15;
ld.global.u8 	%rs27, [%rd16];
ld.global.u8 	%rs28, [%rd16+1];
shl.b16 	%rs29, %rs28, 8;
or.b16  	%rs25, %rs29, %rs27;
cvt.f32.f16 %f9, %rs25;
ld.global.u8 	%rs30, [%rd16+2];
ld.global.u8 	%rs31, [%rd16+3];
shl.b16 	%rs32, %rs31, 8;
or.b16  	%rs26, %rs32, %rs30;
cvt.f32.f16 %f10, %rs26;
ld.global.u8 	%r36, [%rd16+4];
ld.global.u8 	%rs33, [%rd16+5];
mul.wide.u16 	%r37, %rs33, 256;
ld.global.u8 	%r38, [%rd16+6];
ld.global.u8 	%r39, [%rd16+7];
shl.b32 	%r40, %r39, 24;
shl.b32 	%r41, %r38, 16;
or.b32  	%r42, %r37, %r36;
or.b32  	%r43, %r42, %r41;
or.b32  	%r44, %r43, %r40;
cvt.u32.u64 	%r45, %rd3;
and.b32  	%r46, %r45, 24;
add.s64 	%rd17, %rd16, 8;
and.b64  	%rd18, %rd3, 8;
add.s64 	%rd19, %rd17, %rd18;
ld.global.u8 	%r47, [%rd19];
setp.lt.u32 	%p2, %r46, 16;
selp.b32 	%r48, 0, 4, %p2;
shr.u32 	%r49, %r47, %r48;
and.b32  	%r50, %r49, 15;
shr.u32 	%r51, %r44, %r46;
shl.b32 	%r52, %r51, 4;
and.b32  	%r53, %r52, 16;
or.b32  	%r54, %r53, %r50;
cvt.rn.f32.u32 	%f11, %r54;
mul.rn.f32 	%f12, %f9, %f11;
add.rn.f32 	%f1, %f10, %f12;
or.b32  	%r55, %r46, 1;
and.b32  	%r56, %r55, 9;
cvt.u64.u32 	%rd20, %r56;
add.s64 	%rd21, %rd17, %rd20;
ld.global.u8 	%r57, [%rd21];
setp.lt.u32 	%p3, %r46, 15;
selp.b32 	%r58, 0, 4, %p3;
shr.u32 	%r59, %r57, %r58;
and.b32  	%r60, %r59, 15;
shr.u32 	%r61, %r44, %r55;
shl.b32 	%r62, %r61, 4;
and.b32  	%r63, %r62, 16;
or.b32  	%r64, %r63, %r60;
cvt.rn.f32.u32 	%f13, %r64;
mul.rn.f32 	%f14, %f9, %f13;
add.rn.f32 	%f2, %f10, %f14;
or.b32  	%r65, %r46, 2;
and.b32  	%r66, %r65, 10;
cvt.u64.u32 	%rd22, %r66;
add.s64 	%rd23, %rd17, %rd22;
ld.global.u8 	%r67, [%rd23];
setp.lt.u32 	%p4, %r46, 14;
selp.b32 	%r68, 0, 4, %p4;
shr.u32 	%r69, %r67, %r68;
and.b32  	%r70, %r69, 15;
shr.u32 	%r71, %r44, %r65;
shl.b32 	%r72, %r71, 4;
and.b32  	%r73, %r72, 16;
or.b32  	%r74, %r70, %r73;
cvt.rn.f32.u32 	%f15, %r74;
mul.rn.f32 	%f16, %f9, %f15;
add.rn.f32 	%f3, %f10, %f16;
or.b32  	%r75, %r46, 3;
and.b32  	%r76, %r75, 11;
cvt.u64.u32 	%rd24, %r76;
add.s64 	%rd25, %rd17, %rd24;
ld.global.u8 	%r77, [%rd25];
setp.lt.u32 	%p5, %r46, 13;
selp.b32 	%r78, 0, 4, %p5;
shr.u32 	%r79, %r77, %r78;
and.b32  	%r80, %r79, 15;
shr.u32 	%r81, %r44, %r75;
shl.b32 	%r82, %r81, 4;
and.b32  	%r83, %r82, 16;
or.b32  	%r84, %r80, %r83;
cvt.rn.f32.u32 	%f17, %r84;
mul.rn.f32 	%f18, %f9, %f17;
add.rn.f32 	%f4, %f10, %f18;
or.b32  	%r85, %r46, 4;
and.b32  	%r86, %r85, 12;
cvt.u64.u32 	%rd26, %r86;
add.s64 	%rd27, %rd17, %rd26;
ld.global.u8 	%r87, [%rd27];
setp.lt.u32 	%p6, %r46, 12;
selp.b32 	%r88, 0, 4, %p6;
shr.u32 	%r89, %r87, %r88;
and.b32  	%r90, %r89, 15;
shr.u32 	%r91, %r44, %r85;
shl.b32 	%r92, %r91, 4;
and.b32  	%r93, %r92, 16;
or.b32  	%r94, %r90, %r93;
cvt.rn.f32.u32 	%f19, %r94;
mul.rn.f32 	%f20, %f9, %f19;
add.rn.f32 	%f5, %f10, %f20;
or.b32  	%r95, %r46, 5;
and.b32  	%r96, %r95, 13;
cvt.u64.u32 	%rd28, %r96;
add.s64 	%rd29, %rd17, %rd28;
ld.global.u8 	%r97, [%rd29];
setp.lt.u32 	%p7, %r46, 11;
selp.b32 	%r98, 0, 4, %p7;
shr.u32 	%r99, %r97, %r98;
and.b32  	%r100, %r99, 15;
shr.u32 	%r101, %r44, %r95;
shl.b32 	%r102, %r101, 4;
and.b32  	%r103, %r102, 16;
or.b32  	%r104, %r100, %r103;
cvt.rn.f32.u32 	%f21, %r104;
mul.rn.f32 	%f22, %f9, %f21;
add.rn.f32 	%f6, %f10, %f22;
or.b32  	%r105, %r46, 6;
and.b32  	%r106, %r105, 14;
cvt.u64.u32 	%rd30, %r106;
add.s64 	%rd31, %rd17, %rd30;
ld.global.u8 	%r107, [%rd31];
setp.lt.u32 	%p8, %r46, 10;
selp.b32 	%r108, 0, 4, %p8;
shr.u32 	%r109, %r107, %r108;
and.b32  	%r110, %r109, 15;
shr.u32 	%r111, %r44, %r105;
shl.b32 	%r112, %r111, 4;
and.b32  	%r113, %r112, 16;
or.b32  	%r114, %r110, %r113;
cvt.rn.f32.u32 	%f23, %r114;
mul.rn.f32 	%f24, %f9, %f23;
add.rn.f32 	%f7, %f10, %f24;
or.b32  	%r115, %r46, 7;
and.b32  	%r116, %r115, 15;
cvt.u64.u32 	%rd32, %r116;
add.s64 	%rd33, %rd17, %rd32;
ld.global.u8 	%r117, [%rd33];
setp.lt.u32 	%p9, %r46, 9;
selp.b32 	%r118, 0, 4, %p9;
shr.u32 	%r119, %r117, %r118;
and.b32  	%r120, %r119, 15;
shr.u32 	%r121, %r44, %r115;
shl.b32 	%r122, %r121, 4;
and.b32  	%r123, %r122, 16;
or.b32  	%r124, %r120, %r123;
cvt.rn.f32.u32 	%f25, %r124;
mul.rn.f32 	%f26, %f9, %f25;
add.rn.f32 	%f8, %f10, %f26;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p10, %rd8, 0;
@%p10 bra 	LBB15_19;
bra.uni 	LBB15_2;
LBB15_19:
setp.eq.s64 	%p11, %rd8, 1;
@%p11 bra 	LBB15_18;
bra.uni 	LBB15_20;
LBB15_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB15_24;
LBB15_2:
shl.b64 	%rd35, %rd3, 2;
add.s64 	%rd5, %rd1, %rd35;
setp.gt.u64 	%p35, %rd4, 7;
@%p35 bra 	LBB15_17;
setp.eq.s64 	%p36, %rd4, 0;
@%p36 bra 	LBB15_5;
st.global.f32 	[%rd5], %f1;
LBB15_5:
setp.lt.u64 	%p37, %rd4, 2;
@%p37 bra 	LBB15_7;
st.global.f32 	[%rd5+4], %f2;
LBB15_7:
setp.lt.u64 	%p38, %rd4, 3;
@%p38 bra 	LBB15_9;
st.global.f32 	[%rd5+8], %f3;
LBB15_9:
setp.lt.u64 	%p39, %rd4, 4;
@%p39 bra 	LBB15_11;
st.global.f32 	[%rd5+12], %f4;
LBB15_11:
setp.lt.u64 	%p40, %rd4, 5;
@%p40 bra 	LBB15_13;
st.global.f32 	[%rd5+16], %f5;
LBB15_13:
setp.lt.u64 	%p41, %rd4, 6;
@%p41 bra 	LBB15_15;
st.global.f32 	[%rd5+20], %f6;
LBB15_15:
setp.lt.u64 	%p42, %rd4, 7;
@%p42 bra 	LBB15_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB15_75;
LBB15_20:
mov.b32 	%r1, %f1;
and.b32  	%r125, %r1, 2147483647;
setp.lt.u32 	%p12, %r125, 2139095041;
@%p12 bra 	LBB15_22;
shr.u32 	%r129, %r1, 16;
or.b32  	%r195, %r129, 64;
bra.uni 	LBB15_23;
LBB15_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB15_75;
LBB15_22:
bfe.u32 	%r126, %r1, 16, 1;
add.s32 	%r127, %r1, %r126;
add.s32 	%r128, %r127, 32767;
shr.u32 	%r195, %r128, 16;
LBB15_23:
cvt.u16.u32 	%rs3, %r195;
LBB15_24:
@%p11 bra 	LBB15_28;
bra.uni 	LBB15_25;
LBB15_28:
cvt.rn.f16.f32 %rs57, %f2;
bra.uni 	LBB15_29;
LBB15_25:
mov.b32 	%r5, %f2;
and.b32  	%r130, %r5, 2147483647;
setp.gt.u32 	%p14, %r130, 2139095040;
@%p14 bra 	LBB15_27;
bra.uni 	LBB15_26;
LBB15_27:
shr.u32 	%r134, %r5, 16;
or.b32  	%r7, %r134, 64;
cvt.u16.u32 	%rs57, %r7;
bra.uni 	LBB15_29;
LBB15_26:
bfe.u32 	%r131, %r5, 16, 1;
add.s32 	%r132, %r5, %r131;
add.s32 	%r133, %r132, 32767;
shr.u32 	%r6, %r133, 16;
cvt.u16.u32 	%rs57, %r6;
LBB15_29:
@%p11 bra 	LBB15_33;
bra.uni 	LBB15_30;
LBB15_33:
cvt.rn.f16.f32 %rs58, %f3;
bra.uni 	LBB15_34;
LBB15_30:
mov.b32 	%r9, %f3;
and.b32  	%r135, %r9, 2147483647;
setp.gt.u32 	%p16, %r135, 2139095040;
@%p16 bra 	LBB15_32;
bra.uni 	LBB15_31;
LBB15_32:
shr.u32 	%r139, %r9, 16;
or.b32  	%r11, %r139, 64;
cvt.u16.u32 	%rs58, %r11;
bra.uni 	LBB15_34;
LBB15_31:
bfe.u32 	%r136, %r9, 16, 1;
add.s32 	%r137, %r9, %r136;
add.s32 	%r138, %r137, 32767;
shr.u32 	%r10, %r138, 16;
cvt.u16.u32 	%rs58, %r10;
LBB15_34:
@%p11 bra 	LBB15_38;
bra.uni 	LBB15_35;
LBB15_38:
cvt.rn.f16.f32 %rs59, %f4;
bra.uni 	LBB15_39;
LBB15_35:
mov.b32 	%r13, %f4;
and.b32  	%r140, %r13, 2147483647;
setp.gt.u32 	%p18, %r140, 2139095040;
@%p18 bra 	LBB15_37;
bra.uni 	LBB15_36;
LBB15_37:
shr.u32 	%r144, %r13, 16;
or.b32  	%r15, %r144, 64;
cvt.u16.u32 	%rs59, %r15;
bra.uni 	LBB15_39;
LBB15_36:
bfe.u32 	%r141, %r13, 16, 1;
add.s32 	%r142, %r13, %r141;
add.s32 	%r143, %r142, 32767;
shr.u32 	%r14, %r143, 16;
cvt.u16.u32 	%rs59, %r14;
LBB15_39:
@%p11 bra 	LBB15_43;
bra.uni 	LBB15_40;
LBB15_43:
cvt.rn.f16.f32 %rs60, %f5;
bra.uni 	LBB15_44;
LBB15_40:
mov.b32 	%r17, %f5;
and.b32  	%r145, %r17, 2147483647;
setp.gt.u32 	%p20, %r145, 2139095040;
@%p20 bra 	LBB15_42;
bra.uni 	LBB15_41;
LBB15_42:
shr.u32 	%r149, %r17, 16;
or.b32  	%r19, %r149, 64;
cvt.u16.u32 	%rs60, %r19;
bra.uni 	LBB15_44;
LBB15_41:
bfe.u32 	%r146, %r17, 16, 1;
add.s32 	%r147, %r17, %r146;
add.s32 	%r148, %r147, 32767;
shr.u32 	%r18, %r148, 16;
cvt.u16.u32 	%rs60, %r18;
LBB15_44:
@%p11 bra 	LBB15_48;
bra.uni 	LBB15_45;
LBB15_48:
cvt.rn.f16.f32 %rs61, %f6;
bra.uni 	LBB15_49;
LBB15_45:
mov.b32 	%r21, %f6;
and.b32  	%r150, %r21, 2147483647;
setp.gt.u32 	%p22, %r150, 2139095040;
@%p22 bra 	LBB15_47;
bra.uni 	LBB15_46;
LBB15_47:
shr.u32 	%r154, %r21, 16;
or.b32  	%r23, %r154, 64;
cvt.u16.u32 	%rs61, %r23;
bra.uni 	LBB15_49;
LBB15_46:
bfe.u32 	%r151, %r21, 16, 1;
add.s32 	%r152, %r21, %r151;
add.s32 	%r153, %r152, 32767;
shr.u32 	%r22, %r153, 16;
cvt.u16.u32 	%rs61, %r22;
LBB15_49:
@%p11 bra 	LBB15_53;
bra.uni 	LBB15_50;
LBB15_53:
cvt.rn.f16.f32 %rs62, %f7;
bra.uni 	LBB15_54;
LBB15_50:
mov.b32 	%r25, %f7;
and.b32  	%r155, %r25, 2147483647;
setp.gt.u32 	%p24, %r155, 2139095040;
@%p24 bra 	LBB15_52;
bra.uni 	LBB15_51;
LBB15_52:
shr.u32 	%r159, %r25, 16;
or.b32  	%r27, %r159, 64;
cvt.u16.u32 	%rs62, %r27;
bra.uni 	LBB15_54;
LBB15_51:
bfe.u32 	%r156, %r25, 16, 1;
add.s32 	%r157, %r25, %r156;
add.s32 	%r158, %r157, 32767;
shr.u32 	%r26, %r158, 16;
cvt.u16.u32 	%rs62, %r26;
LBB15_54:
@%p11 bra 	LBB15_58;
bra.uni 	LBB15_55;
LBB15_58:
cvt.rn.f16.f32 %rs63, %f8;
bra.uni 	LBB15_59;
LBB15_55:
mov.b32 	%r29, %f8;
and.b32  	%r160, %r29, 2147483647;
setp.gt.u32 	%p26, %r160, 2139095040;
@%p26 bra 	LBB15_57;
bra.uni 	LBB15_56;
LBB15_57:
shr.u32 	%r164, %r29, 16;
or.b32  	%r31, %r164, 64;
cvt.u16.u32 	%rs63, %r31;
bra.uni 	LBB15_59;
LBB15_56:
bfe.u32 	%r161, %r29, 16, 1;
add.s32 	%r162, %r29, %r161;
add.s32 	%r163, %r162, 32767;
shr.u32 	%r30, %r163, 16;
cvt.u16.u32 	%rs63, %r30;
LBB15_59:
shl.b64 	%rd34, %rd3, 1;
add.s64 	%rd6, %rd1, %rd34;
setp.lt.u64 	%p27, %rd4, 8;
@%p27 bra 	LBB15_61;
bra.uni 	LBB15_60;
LBB15_61:
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB15_63;
st.global.u16 	[%rd6], %rs3;
LBB15_63:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB15_65;
st.global.u16 	[%rd6+2], %rs57;
LBB15_65:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB15_67;
st.global.u16 	[%rd6+4], %rs58;
LBB15_67:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB15_69;
st.global.u16 	[%rd6+6], %rs59;
LBB15_69:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB15_71;
st.global.u16 	[%rd6+8], %rs60;
LBB15_71:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB15_73;
st.global.u16 	[%rd6+10], %rs61;
LBB15_73:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB15_75;
st.global.u16 	[%rd6+12], %rs62;
bra.uni 	LBB15_75;
LBB15_60:
cvt.u32.u16 	%r165, %rs3;
cvt.u32.u16 	%r166, %rs57;
shl.b32 	%r167, %r166, 16;
or.b32  	%r168, %r167, %r165;
cvt.u32.u16 	%r169, %rs58;
cvt.u32.u16 	%r170, %rs59;
shl.b32 	%r171, %r170, 16;
or.b32  	%r172, %r171, %r169;
cvt.u32.u16 	%r173, %rs60;
cvt.u32.u16 	%r174, %rs61;
shl.b32 	%r175, %r174, 16;
or.b32  	%r176, %r175, %r173;
cvt.u32.u16 	%r177, %rs62;
cvt.u32.u16 	%r178, %rs63;
shl.b32 	%r179, %r178, 16;
or.b32  	%r180, %r179, %r177;
st.global.v4.u32 	[%rd6], {%r168, %r172, %r176, %r180};
LBB15_75:
ret;
}
)ptx";
constexpr char k_ggml_q8_0[] = R"ptx(.visible .entry ggml_q8_0(
.param .u64 ggml_q8_0_param_0,
.param .u64 ggml_q8_0_param_1,
.param .u64 ggml_q8_0_param_2,
.param .u64 ggml_q8_0_param_3,
.param .u64 ggml_q8_0_param_4,
.param .u64 ggml_q8_0_param_5,
.param .u64 ggml_q8_0_param_6,
.param .u64 ggml_q8_0_param_7,
.param .u64 ggml_q8_0_param_8
)
{
.reg .pred 	%p<35>;
.reg .b16 	%rs<67>;
.reg .b32 	%r<107>;
.reg .f32 	%f<26>;
.reg .b64 	%rd<21>;
ld.param.u64 	%rd7, [ggml_q8_0_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB16_75;
ld.param.u64 	%rd8, [ggml_q8_0_param_8];
ld.param.u64 	%rd9, [ggml_q8_0_param_0];
ld.param.u64 	%rd10, [ggml_q8_0_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 5;
mul.lo.s64 	%rd15, %rd14, 34;
add.s64 	%rd16, %rd2, %rd15;
ld.global.u8 	%rs26, [%rd16];
ld.global.u8 	%rs27, [%rd16+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
and.b64  	%rd17, %rd3, 24;
add.s64 	%rd18, %rd16, %rd17;
ld.global.s8 	%rs29, [%rd18+2];
cvt.rn.f32.s16 	%f10, %rs29;
mul.rn.f32 	%f1, %f9, %f10;
ld.global.s8 	%rs30, [%rd18+3];
cvt.rn.f32.s16 	%f11, %rs30;
mul.rn.f32 	%f2, %f9, %f11;
ld.global.s8 	%rs31, [%rd18+4];
cvt.rn.f32.s16 	%f12, %rs31;
mul.rn.f32 	%f3, %f9, %f12;
ld.global.s8 	%rs32, [%rd18+5];
cvt.rn.f32.s16 	%f13, %rs32;
mul.rn.f32 	%f4, %f9, %f13;
ld.global.s8 	%rs33, [%rd18+6];
cvt.rn.f32.s16 	%f14, %rs33;
mul.rn.f32 	%f5, %f9, %f14;
ld.global.s8 	%rs34, [%rd18+7];
cvt.rn.f32.s16 	%f15, %rs34;
mul.rn.f32 	%f6, %f9, %f15;
ld.global.s8 	%rs35, [%rd18+8];
cvt.rn.f32.s16 	%f16, %rs35;
mul.rn.f32 	%f7, %f9, %f16;
ld.global.s8 	%rs36, [%rd18+9];
cvt.rn.f32.s16 	%f17, %rs36;
mul.rn.f32 	%f8, %f9, %f17;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p2, %rd8, 0;
@%p2 bra 	LBB16_19;
bra.uni 	LBB16_2;
LBB16_19:
setp.eq.s64 	%p3, %rd8, 1;
@%p3 bra 	LBB16_18;
bra.uni 	LBB16_20;
LBB16_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB16_24;
LBB16_2:
shl.b64 	%rd20, %rd3, 2;
add.s64 	%rd5, %rd1, %rd20;
setp.gt.u64 	%p27, %rd4, 7;
@%p27 bra 	LBB16_17;
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB16_5;
st.global.f32 	[%rd5], %f1;
LBB16_5:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB16_7;
st.global.f32 	[%rd5+4], %f2;
LBB16_7:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB16_9;
st.global.f32 	[%rd5+8], %f3;
LBB16_9:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB16_11;
st.global.f32 	[%rd5+12], %f4;
LBB16_11:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB16_13;
st.global.f32 	[%rd5+16], %f5;
LBB16_13:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB16_15;
st.global.f32 	[%rd5+20], %f6;
LBB16_15:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB16_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB16_75;
LBB16_20:
mov.b32 	%r1, %f1;
and.b32  	%r36, %r1, 2147483647;
setp.lt.u32 	%p4, %r36, 2139095041;
@%p4 bra 	LBB16_22;
shr.u32 	%r40, %r1, 16;
or.b32  	%r106, %r40, 64;
bra.uni 	LBB16_23;
LBB16_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB16_75;
LBB16_22:
bfe.u32 	%r37, %r1, 16, 1;
add.s32 	%r38, %r1, %r37;
add.s32 	%r39, %r38, 32767;
shr.u32 	%r106, %r39, 16;
LBB16_23:
cvt.u16.u32 	%rs3, %r106;
LBB16_24:
@%p3 bra 	LBB16_28;
bra.uni 	LBB16_25;
LBB16_28:
cvt.rn.f16.f32 %rs60, %f2;
bra.uni 	LBB16_29;
LBB16_25:
mov.b32 	%r5, %f2;
and.b32  	%r41, %r5, 2147483647;
setp.gt.u32 	%p6, %r41, 2139095040;
@%p6 bra 	LBB16_27;
bra.uni 	LBB16_26;
LBB16_27:
shr.u32 	%r45, %r5, 16;
or.b32  	%r7, %r45, 64;
cvt.u16.u32 	%rs60, %r7;
bra.uni 	LBB16_29;
LBB16_26:
bfe.u32 	%r42, %r5, 16, 1;
add.s32 	%r43, %r5, %r42;
add.s32 	%r44, %r43, 32767;
shr.u32 	%r6, %r44, 16;
cvt.u16.u32 	%rs60, %r6;
LBB16_29:
@%p3 bra 	LBB16_33;
bra.uni 	LBB16_30;
LBB16_33:
cvt.rn.f16.f32 %rs61, %f3;
bra.uni 	LBB16_34;
LBB16_30:
mov.b32 	%r9, %f3;
and.b32  	%r46, %r9, 2147483647;
setp.gt.u32 	%p8, %r46, 2139095040;
@%p8 bra 	LBB16_32;
bra.uni 	LBB16_31;
LBB16_32:
shr.u32 	%r50, %r9, 16;
or.b32  	%r11, %r50, 64;
cvt.u16.u32 	%rs61, %r11;
bra.uni 	LBB16_34;
LBB16_31:
bfe.u32 	%r47, %r9, 16, 1;
add.s32 	%r48, %r9, %r47;
add.s32 	%r49, %r48, 32767;
shr.u32 	%r10, %r49, 16;
cvt.u16.u32 	%rs61, %r10;
LBB16_34:
@%p3 bra 	LBB16_38;
bra.uni 	LBB16_35;
LBB16_38:
cvt.rn.f16.f32 %rs62, %f4;
bra.uni 	LBB16_39;
LBB16_35:
mov.b32 	%r13, %f4;
and.b32  	%r51, %r13, 2147483647;
setp.gt.u32 	%p10, %r51, 2139095040;
@%p10 bra 	LBB16_37;
bra.uni 	LBB16_36;
LBB16_37:
shr.u32 	%r55, %r13, 16;
or.b32  	%r15, %r55, 64;
cvt.u16.u32 	%rs62, %r15;
bra.uni 	LBB16_39;
LBB16_36:
bfe.u32 	%r52, %r13, 16, 1;
add.s32 	%r53, %r13, %r52;
add.s32 	%r54, %r53, 32767;
shr.u32 	%r14, %r54, 16;
cvt.u16.u32 	%rs62, %r14;
LBB16_39:
@%p3 bra 	LBB16_43;
bra.uni 	LBB16_40;
LBB16_43:
cvt.rn.f16.f32 %rs63, %f5;
bra.uni 	LBB16_44;
LBB16_40:
mov.b32 	%r17, %f5;
and.b32  	%r56, %r17, 2147483647;
setp.gt.u32 	%p12, %r56, 2139095040;
@%p12 bra 	LBB16_42;
bra.uni 	LBB16_41;
LBB16_42:
shr.u32 	%r60, %r17, 16;
or.b32  	%r19, %r60, 64;
cvt.u16.u32 	%rs63, %r19;
bra.uni 	LBB16_44;
LBB16_41:
bfe.u32 	%r57, %r17, 16, 1;
add.s32 	%r58, %r17, %r57;
add.s32 	%r59, %r58, 32767;
shr.u32 	%r18, %r59, 16;
cvt.u16.u32 	%rs63, %r18;
LBB16_44:
@%p3 bra 	LBB16_48;
bra.uni 	LBB16_45;
LBB16_48:
cvt.rn.f16.f32 %rs64, %f6;
bra.uni 	LBB16_49;
LBB16_45:
mov.b32 	%r21, %f6;
and.b32  	%r61, %r21, 2147483647;
setp.gt.u32 	%p14, %r61, 2139095040;
@%p14 bra 	LBB16_47;
bra.uni 	LBB16_46;
LBB16_47:
shr.u32 	%r65, %r21, 16;
or.b32  	%r23, %r65, 64;
cvt.u16.u32 	%rs64, %r23;
bra.uni 	LBB16_49;
LBB16_46:
bfe.u32 	%r62, %r21, 16, 1;
add.s32 	%r63, %r21, %r62;
add.s32 	%r64, %r63, 32767;
shr.u32 	%r22, %r64, 16;
cvt.u16.u32 	%rs64, %r22;
LBB16_49:
@%p3 bra 	LBB16_53;
bra.uni 	LBB16_50;
LBB16_53:
cvt.rn.f16.f32 %rs65, %f7;
bra.uni 	LBB16_54;
LBB16_50:
mov.b32 	%r25, %f7;
and.b32  	%r66, %r25, 2147483647;
setp.gt.u32 	%p16, %r66, 2139095040;
@%p16 bra 	LBB16_52;
bra.uni 	LBB16_51;
LBB16_52:
shr.u32 	%r70, %r25, 16;
or.b32  	%r27, %r70, 64;
cvt.u16.u32 	%rs65, %r27;
bra.uni 	LBB16_54;
LBB16_51:
bfe.u32 	%r67, %r25, 16, 1;
add.s32 	%r68, %r25, %r67;
add.s32 	%r69, %r68, 32767;
shr.u32 	%r26, %r69, 16;
cvt.u16.u32 	%rs65, %r26;
LBB16_54:
@%p3 bra 	LBB16_58;
bra.uni 	LBB16_55;
LBB16_58:
cvt.rn.f16.f32 %rs66, %f8;
bra.uni 	LBB16_59;
LBB16_55:
mov.b32 	%r29, %f8;
and.b32  	%r71, %r29, 2147483647;
setp.gt.u32 	%p18, %r71, 2139095040;
@%p18 bra 	LBB16_57;
bra.uni 	LBB16_56;
LBB16_57:
shr.u32 	%r75, %r29, 16;
or.b32  	%r31, %r75, 64;
cvt.u16.u32 	%rs66, %r31;
bra.uni 	LBB16_59;
LBB16_56:
bfe.u32 	%r72, %r29, 16, 1;
add.s32 	%r73, %r29, %r72;
add.s32 	%r74, %r73, 32767;
shr.u32 	%r30, %r74, 16;
cvt.u16.u32 	%rs66, %r30;
LBB16_59:
shl.b64 	%rd19, %rd3, 1;
add.s64 	%rd6, %rd1, %rd19;
setp.lt.u64 	%p19, %rd4, 8;
@%p19 bra 	LBB16_61;
bra.uni 	LBB16_60;
LBB16_61:
setp.eq.s64 	%p20, %rd4, 0;
@%p20 bra 	LBB16_63;
st.global.u16 	[%rd6], %rs3;
LBB16_63:
setp.lt.u64 	%p21, %rd4, 2;
@%p21 bra 	LBB16_65;
st.global.u16 	[%rd6+2], %rs60;
LBB16_65:
setp.lt.u64 	%p22, %rd4, 3;
@%p22 bra 	LBB16_67;
st.global.u16 	[%rd6+4], %rs61;
LBB16_67:
setp.lt.u64 	%p23, %rd4, 4;
@%p23 bra 	LBB16_69;
st.global.u16 	[%rd6+6], %rs62;
LBB16_69:
setp.lt.u64 	%p24, %rd4, 5;
@%p24 bra 	LBB16_71;
st.global.u16 	[%rd6+8], %rs63;
LBB16_71:
setp.lt.u64 	%p25, %rd4, 6;
@%p25 bra 	LBB16_73;
st.global.u16 	[%rd6+10], %rs64;
LBB16_73:
setp.lt.u64 	%p26, %rd4, 7;
@%p26 bra 	LBB16_75;
st.global.u16 	[%rd6+12], %rs65;
bra.uni 	LBB16_75;
LBB16_60:
cvt.u32.u16 	%r76, %rs3;
cvt.u32.u16 	%r77, %rs60;
shl.b32 	%r78, %r77, 16;
or.b32  	%r79, %r78, %r76;
cvt.u32.u16 	%r80, %rs61;
cvt.u32.u16 	%r81, %rs62;
shl.b32 	%r82, %r81, 16;
or.b32  	%r83, %r82, %r80;
cvt.u32.u16 	%r84, %rs63;
cvt.u32.u16 	%r85, %rs64;
shl.b32 	%r86, %r85, 16;
or.b32  	%r87, %r86, %r84;
cvt.u32.u16 	%r88, %rs65;
cvt.u32.u16 	%r89, %rs66;
shl.b32 	%r90, %r89, 16;
or.b32  	%r91, %r90, %r88;
st.global.v4.u32 	[%rd6], {%r79, %r83, %r87, %r91};
LBB16_75:
ret;
}
)ptx";
constexpr char k_ggml_iq4_nl[] = R"ptx(.visible .entry ggml_iq4_nl(
.param .u64 ggml_iq4_nl_param_0,
.param .u64 ggml_iq4_nl_param_1,
.param .u64 ggml_iq4_nl_param_2,
.param .u64 ggml_iq4_nl_param_3,
.param .u64 ggml_iq4_nl_param_4,
.param .u64 ggml_iq4_nl_param_5,
.param .u64 ggml_iq4_nl_param_6,
.param .u64 ggml_iq4_nl_param_7,
.param .u64 ggml_iq4_nl_param_8
)
{
.reg .pred 	%p<43>;
.reg .b16 	%rs<59>;
.reg .b32 	%r<141>;
.reg .f32 	%f<26>;
.reg .b64 	%rd<38>;
ld.param.u64 	%rd7, [ggml_iq4_nl_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB17_75;
ld.param.u64 	%rd8, [ggml_iq4_nl_param_8];
ld.param.u64 	%rd9, [ggml_iq4_nl_param_0];
ld.param.u64 	%rd10, [ggml_iq4_nl_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 5;
mul.lo.s64 	%rd15, %rd14, 18;
add.s64 	%rd16, %rd2, %rd15;
ld.global.u8 	%rs26, [%rd16];
ld.global.u8 	%rs27, [%rd16+1];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
and.b64  	%rd17, %rd3, 8;
add.s64 	%rd18, %rd16, %rd17;
cvt.u32.u64 	%r36, %rd3;
and.b32  	%r37, %r36, 24;
ld.global.u8 	%r38, [%rd18+2];
setp.lt.u32 	%p2, %r37, 16;
selp.b32 	%r39, 0, 4, %p2;
shr.u32 	%r40, %r38, %r39;
and.b32  	%r41, %r40, 15;
mul.wide.u32 	%rd19, %r41, 4;
mov.u64 	%rd20, _ZL4kIq4;
add.s64 	%rd21, %rd20, %rd19;
ld.const.f32 	%f10, [%rd21];
mul.rn.f32 	%f1, %f9, %f10;
ld.global.u8 	%r42, [%rd18+3];
setp.lt.u32 	%p3, %r37, 15;
selp.b32 	%r43, 0, 4, %p3;
shr.u32 	%r44, %r42, %r43;
and.b32  	%r45, %r44, 15;
mul.wide.u32 	%rd22, %r45, 4;
add.s64 	%rd23, %rd20, %rd22;
ld.const.f32 	%f11, [%rd23];
mul.rn.f32 	%f2, %f9, %f11;
ld.global.u8 	%r46, [%rd18+4];
setp.lt.u32 	%p4, %r37, 14;
selp.b32 	%r47, 0, 4, %p4;
shr.u32 	%r48, %r46, %r47;
and.b32  	%r49, %r48, 15;
mul.wide.u32 	%rd24, %r49, 4;
add.s64 	%rd25, %rd20, %rd24;
ld.const.f32 	%f12, [%rd25];
mul.rn.f32 	%f3, %f9, %f12;
ld.global.u8 	%r50, [%rd18+5];
setp.lt.u32 	%p5, %r37, 13;
selp.b32 	%r51, 0, 4, %p5;
shr.u32 	%r52, %r50, %r51;
and.b32  	%r53, %r52, 15;
mul.wide.u32 	%rd26, %r53, 4;
add.s64 	%rd27, %rd20, %rd26;
ld.const.f32 	%f13, [%rd27];
mul.rn.f32 	%f4, %f9, %f13;
ld.global.u8 	%r54, [%rd18+6];
setp.lt.u32 	%p6, %r37, 12;
selp.b32 	%r55, 0, 4, %p6;
shr.u32 	%r56, %r54, %r55;
and.b32  	%r57, %r56, 15;
mul.wide.u32 	%rd28, %r57, 4;
add.s64 	%rd29, %rd20, %rd28;
ld.const.f32 	%f14, [%rd29];
mul.rn.f32 	%f5, %f9, %f14;
ld.global.u8 	%r58, [%rd18+7];
setp.lt.u32 	%p7, %r37, 11;
selp.b32 	%r59, 0, 4, %p7;
shr.u32 	%r60, %r58, %r59;
and.b32  	%r61, %r60, 15;
mul.wide.u32 	%rd30, %r61, 4;
add.s64 	%rd31, %rd20, %rd30;
ld.const.f32 	%f15, [%rd31];
mul.rn.f32 	%f6, %f9, %f15;
ld.global.u8 	%r62, [%rd18+8];
setp.lt.u32 	%p8, %r37, 10;
selp.b32 	%r63, 0, 4, %p8;
shr.u32 	%r64, %r62, %r63;
and.b32  	%r65, %r64, 15;
mul.wide.u32 	%rd32, %r65, 4;
add.s64 	%rd33, %rd20, %rd32;
ld.const.f32 	%f16, [%rd33];
mul.rn.f32 	%f7, %f9, %f16;
ld.global.u8 	%r66, [%rd18+9];
setp.lt.u32 	%p9, %r37, 9;
selp.b32 	%r67, 0, 4, %p9;
shr.u32 	%r68, %r66, %r67;
and.b32  	%r69, %r68, 15;
mul.wide.u32 	%rd34, %r69, 4;
add.s64 	%rd35, %rd20, %rd34;
ld.const.f32 	%f17, [%rd35];
mul.rn.f32 	%f8, %f9, %f17;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p10, %rd8, 0;
@%p10 bra 	LBB17_19;
bra.uni 	LBB17_2;
LBB17_19:
setp.eq.s64 	%p11, %rd8, 1;
@%p11 bra 	LBB17_18;
bra.uni 	LBB17_20;
LBB17_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB17_24;
LBB17_2:
shl.b64 	%rd37, %rd3, 2;
add.s64 	%rd5, %rd1, %rd37;
setp.gt.u64 	%p35, %rd4, 7;
@%p35 bra 	LBB17_17;
setp.eq.s64 	%p36, %rd4, 0;
@%p36 bra 	LBB17_5;
st.global.f32 	[%rd5], %f1;
LBB17_5:
setp.lt.u64 	%p37, %rd4, 2;
@%p37 bra 	LBB17_7;
st.global.f32 	[%rd5+4], %f2;
LBB17_7:
setp.lt.u64 	%p38, %rd4, 3;
@%p38 bra 	LBB17_9;
st.global.f32 	[%rd5+8], %f3;
LBB17_9:
setp.lt.u64 	%p39, %rd4, 4;
@%p39 bra 	LBB17_11;
st.global.f32 	[%rd5+12], %f4;
LBB17_11:
setp.lt.u64 	%p40, %rd4, 5;
@%p40 bra 	LBB17_13;
st.global.f32 	[%rd5+16], %f5;
LBB17_13:
setp.lt.u64 	%p41, %rd4, 6;
@%p41 bra 	LBB17_15;
st.global.f32 	[%rd5+20], %f6;
LBB17_15:
setp.lt.u64 	%p42, %rd4, 7;
@%p42 bra 	LBB17_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB17_75;
LBB17_20:
mov.b32 	%r1, %f1;
and.b32  	%r70, %r1, 2147483647;
setp.lt.u32 	%p12, %r70, 2139095041;
@%p12 bra 	LBB17_22;
shr.u32 	%r74, %r1, 16;
or.b32  	%r140, %r74, 64;
bra.uni 	LBB17_23;
LBB17_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB17_75;
LBB17_22:
bfe.u32 	%r71, %r1, 16, 1;
add.s32 	%r72, %r1, %r71;
add.s32 	%r73, %r72, 32767;
shr.u32 	%r140, %r73, 16;
LBB17_23:
cvt.u16.u32 	%rs3, %r140;
LBB17_24:
@%p11 bra 	LBB17_28;
bra.uni 	LBB17_25;
LBB17_28:
cvt.rn.f16.f32 %rs52, %f2;
bra.uni 	LBB17_29;
LBB17_25:
mov.b32 	%r5, %f2;
and.b32  	%r75, %r5, 2147483647;
setp.gt.u32 	%p14, %r75, 2139095040;
@%p14 bra 	LBB17_27;
bra.uni 	LBB17_26;
LBB17_27:
shr.u32 	%r79, %r5, 16;
or.b32  	%r7, %r79, 64;
cvt.u16.u32 	%rs52, %r7;
bra.uni 	LBB17_29;
LBB17_26:
bfe.u32 	%r76, %r5, 16, 1;
add.s32 	%r77, %r5, %r76;
add.s32 	%r78, %r77, 32767;
shr.u32 	%r6, %r78, 16;
cvt.u16.u32 	%rs52, %r6;
LBB17_29:
@%p11 bra 	LBB17_33;
bra.uni 	LBB17_30;
LBB17_33:
cvt.rn.f16.f32 %rs53, %f3;
bra.uni 	LBB17_34;
LBB17_30:
mov.b32 	%r9, %f3;
and.b32  	%r80, %r9, 2147483647;
setp.gt.u32 	%p16, %r80, 2139095040;
@%p16 bra 	LBB17_32;
bra.uni 	LBB17_31;
LBB17_32:
shr.u32 	%r84, %r9, 16;
or.b32  	%r11, %r84, 64;
cvt.u16.u32 	%rs53, %r11;
bra.uni 	LBB17_34;
LBB17_31:
bfe.u32 	%r81, %r9, 16, 1;
add.s32 	%r82, %r9, %r81;
add.s32 	%r83, %r82, 32767;
shr.u32 	%r10, %r83, 16;
cvt.u16.u32 	%rs53, %r10;
LBB17_34:
@%p11 bra 	LBB17_38;
bra.uni 	LBB17_35;
LBB17_38:
cvt.rn.f16.f32 %rs54, %f4;
bra.uni 	LBB17_39;
LBB17_35:
mov.b32 	%r13, %f4;
and.b32  	%r85, %r13, 2147483647;
setp.gt.u32 	%p18, %r85, 2139095040;
@%p18 bra 	LBB17_37;
bra.uni 	LBB17_36;
LBB17_37:
shr.u32 	%r89, %r13, 16;
or.b32  	%r15, %r89, 64;
cvt.u16.u32 	%rs54, %r15;
bra.uni 	LBB17_39;
LBB17_36:
bfe.u32 	%r86, %r13, 16, 1;
add.s32 	%r87, %r13, %r86;
add.s32 	%r88, %r87, 32767;
shr.u32 	%r14, %r88, 16;
cvt.u16.u32 	%rs54, %r14;
LBB17_39:
@%p11 bra 	LBB17_43;
bra.uni 	LBB17_40;
LBB17_43:
cvt.rn.f16.f32 %rs55, %f5;
bra.uni 	LBB17_44;
LBB17_40:
mov.b32 	%r17, %f5;
and.b32  	%r90, %r17, 2147483647;
setp.gt.u32 	%p20, %r90, 2139095040;
@%p20 bra 	LBB17_42;
bra.uni 	LBB17_41;
LBB17_42:
shr.u32 	%r94, %r17, 16;
or.b32  	%r19, %r94, 64;
cvt.u16.u32 	%rs55, %r19;
bra.uni 	LBB17_44;
LBB17_41:
bfe.u32 	%r91, %r17, 16, 1;
add.s32 	%r92, %r17, %r91;
add.s32 	%r93, %r92, 32767;
shr.u32 	%r18, %r93, 16;
cvt.u16.u32 	%rs55, %r18;
LBB17_44:
@%p11 bra 	LBB17_48;
bra.uni 	LBB17_45;
LBB17_48:
cvt.rn.f16.f32 %rs56, %f6;
bra.uni 	LBB17_49;
LBB17_45:
mov.b32 	%r21, %f6;
and.b32  	%r95, %r21, 2147483647;
setp.gt.u32 	%p22, %r95, 2139095040;
@%p22 bra 	LBB17_47;
bra.uni 	LBB17_46;
LBB17_47:
shr.u32 	%r99, %r21, 16;
or.b32  	%r23, %r99, 64;
cvt.u16.u32 	%rs56, %r23;
bra.uni 	LBB17_49;
LBB17_46:
bfe.u32 	%r96, %r21, 16, 1;
add.s32 	%r97, %r21, %r96;
add.s32 	%r98, %r97, 32767;
shr.u32 	%r22, %r98, 16;
cvt.u16.u32 	%rs56, %r22;
LBB17_49:
@%p11 bra 	LBB17_53;
bra.uni 	LBB17_50;
LBB17_53:
cvt.rn.f16.f32 %rs57, %f7;
bra.uni 	LBB17_54;
LBB17_50:
mov.b32 	%r25, %f7;
and.b32  	%r100, %r25, 2147483647;
setp.gt.u32 	%p24, %r100, 2139095040;
@%p24 bra 	LBB17_52;
bra.uni 	LBB17_51;
LBB17_52:
shr.u32 	%r104, %r25, 16;
or.b32  	%r27, %r104, 64;
cvt.u16.u32 	%rs57, %r27;
bra.uni 	LBB17_54;
LBB17_51:
bfe.u32 	%r101, %r25, 16, 1;
add.s32 	%r102, %r25, %r101;
add.s32 	%r103, %r102, 32767;
shr.u32 	%r26, %r103, 16;
cvt.u16.u32 	%rs57, %r26;
LBB17_54:
@%p11 bra 	LBB17_58;
bra.uni 	LBB17_55;
LBB17_58:
cvt.rn.f16.f32 %rs58, %f8;
bra.uni 	LBB17_59;
LBB17_55:
mov.b32 	%r29, %f8;
and.b32  	%r105, %r29, 2147483647;
setp.gt.u32 	%p26, %r105, 2139095040;
@%p26 bra 	LBB17_57;
bra.uni 	LBB17_56;
LBB17_57:
shr.u32 	%r109, %r29, 16;
or.b32  	%r31, %r109, 64;
cvt.u16.u32 	%rs58, %r31;
bra.uni 	LBB17_59;
LBB17_56:
bfe.u32 	%r106, %r29, 16, 1;
add.s32 	%r107, %r29, %r106;
add.s32 	%r108, %r107, 32767;
shr.u32 	%r30, %r108, 16;
cvt.u16.u32 	%rs58, %r30;
LBB17_59:
shl.b64 	%rd36, %rd3, 1;
add.s64 	%rd6, %rd1, %rd36;
setp.lt.u64 	%p27, %rd4, 8;
@%p27 bra 	LBB17_61;
bra.uni 	LBB17_60;
LBB17_61:
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB17_63;
st.global.u16 	[%rd6], %rs3;
LBB17_63:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB17_65;
st.global.u16 	[%rd6+2], %rs52;
LBB17_65:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB17_67;
st.global.u16 	[%rd6+4], %rs53;
LBB17_67:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB17_69;
st.global.u16 	[%rd6+6], %rs54;
LBB17_69:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB17_71;
st.global.u16 	[%rd6+8], %rs55;
LBB17_71:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB17_73;
st.global.u16 	[%rd6+10], %rs56;
LBB17_73:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB17_75;
st.global.u16 	[%rd6+12], %rs57;
bra.uni 	LBB17_75;
LBB17_60:
cvt.u32.u16 	%r110, %rs3;
cvt.u32.u16 	%r111, %rs52;
shl.b32 	%r112, %r111, 16;
or.b32  	%r113, %r112, %r110;
cvt.u32.u16 	%r114, %rs53;
cvt.u32.u16 	%r115, %rs54;
shl.b32 	%r116, %r115, 16;
or.b32  	%r117, %r116, %r114;
cvt.u32.u16 	%r118, %rs55;
cvt.u32.u16 	%r119, %rs56;
shl.b32 	%r120, %r119, 16;
or.b32  	%r121, %r120, %r118;
cvt.u32.u16 	%r122, %rs57;
cvt.u32.u16 	%r123, %rs58;
shl.b32 	%r124, %r123, 16;
or.b32  	%r125, %r124, %r122;
st.global.v4.u32 	[%rd6], {%r113, %r117, %r121, %r125};
LBB17_75:
ret;
}
)ptx";
constexpr char k_ggml_iq4_xs[] = R"ptx(.visible .entry ggml_iq4_xs(
.param .u64 ggml_iq4_xs_param_0,
.param .u64 ggml_iq4_xs_param_1,
.param .u64 ggml_iq4_xs_param_2,
.param .u64 ggml_iq4_xs_param_3,
.param .u64 ggml_iq4_xs_param_4,
.param .u64 ggml_iq4_xs_param_5,
.param .u64 ggml_iq4_xs_param_6,
.param .u64 ggml_iq4_xs_param_7,
.param .u64 ggml_iq4_xs_param_8
)
{
.reg .pred 	%p<43>;
.reg .b16 	%rs<60>;
.reg .b32 	%r<159>;
.reg .f32 	%f<28>;
.reg .b64 	%rd<42>;
ld.param.u64 	%rd7, [ggml_iq4_xs_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB18_75;
ld.param.u64 	%rd8, [ggml_iq4_xs_param_8];
ld.param.u64 	%rd9, [ggml_iq4_xs_param_0];
ld.param.u64 	%rd10, [ggml_iq4_xs_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 8;
mul.lo.s64 	%rd15, %rd14, 136;
add.s64 	%rd16, %rd2, %rd15;
cvt.u32.u64 	%r36, %rd3;
shr.u32 	%r37, %r36, 5;
bfe.u32 	%r38, %r36, 5, 3;
bfe.u32 	%r39, %r37, 1, 2;
cvt.u64.u32 	%rd17, %r39;
add.s64 	%rd18, %rd16, %rd17;
ld.global.u8 	%r40, [%rd18+4];
shr.u32 	%r41, %r36, 3;
and.b32  	%r42, %r41, 4;
shr.u32 	%r43, %r40, %r42;
and.b32  	%r44, %r43, 15;
ld.global.u8 	%r45, [%rd16+2];
ld.global.u8 	%rs26, [%rd16+3];
mul.wide.u16 	%r46, %rs26, 256;
or.b32  	%r47, %r46, %r45;
shl.b32 	%r48, %r38, 1;
shr.u32 	%r49, %r47, %r48;
ld.global.u8 	%rs27, [%rd16];
ld.global.u8 	%rs28, [%rd16+1];
shl.b16 	%rs29, %rs28, 8;
or.b16  	%rs25, %rs29, %rs27;
cvt.f32.f16 %f9, %rs25;
shl.b32 	%r50, %r49, 4;
and.b32  	%r51, %r50, 48;
or.b32  	%r52, %r51, %r44;
add.s32 	%r53, %r52, -32;
cvt.rn.f32.s32 	%f10, %r53;
mul.rn.f32 	%f11, %f9, %f10;
shl.b32 	%r54, %r38, 4;
cvt.u64.u32 	%rd19, %r54;
add.s64 	%rd20, %rd16, %rd19;
and.b64  	%rd21, %rd3, 8;
add.s64 	%rd22, %rd20, %rd21;
and.b32  	%r55, %r36, 24;
ld.global.u8 	%r56, [%rd22+8];
setp.lt.u32 	%p2, %r55, 16;
selp.b32 	%r57, 0, 4, %p2;
shr.u32 	%r58, %r56, %r57;
and.b32  	%r59, %r58, 15;
mul.wide.u32 	%rd23, %r59, 4;
mov.u64 	%rd24, _ZL4kIq4;
add.s64 	%rd25, %rd24, %rd23;
ld.const.f32 	%f12, [%rd25];
mul.rn.f32 	%f1, %f12, %f11;
ld.global.u8 	%r60, [%rd22+9];
setp.lt.u32 	%p3, %r55, 15;
selp.b32 	%r61, 0, 4, %p3;
shr.u32 	%r62, %r60, %r61;
and.b32  	%r63, %r62, 15;
mul.wide.u32 	%rd26, %r63, 4;
add.s64 	%rd27, %rd24, %rd26;
ld.const.f32 	%f13, [%rd27];
mul.rn.f32 	%f2, %f13, %f11;
ld.global.u8 	%r64, [%rd22+10];
setp.lt.u32 	%p4, %r55, 14;
selp.b32 	%r65, 0, 4, %p4;
shr.u32 	%r66, %r64, %r65;
and.b32  	%r67, %r66, 15;
mul.wide.u32 	%rd28, %r67, 4;
add.s64 	%rd29, %rd24, %rd28;
ld.const.f32 	%f14, [%rd29];
mul.rn.f32 	%f3, %f11, %f14;
ld.global.u8 	%r68, [%rd22+11];
setp.lt.u32 	%p5, %r55, 13;
selp.b32 	%r69, 0, 4, %p5;
shr.u32 	%r70, %r68, %r69;
and.b32  	%r71, %r70, 15;
mul.wide.u32 	%rd30, %r71, 4;
add.s64 	%rd31, %rd24, %rd30;
ld.const.f32 	%f15, [%rd31];
mul.rn.f32 	%f4, %f11, %f15;
ld.global.u8 	%r72, [%rd22+12];
setp.lt.u32 	%p6, %r55, 12;
selp.b32 	%r73, 0, 4, %p6;
shr.u32 	%r74, %r72, %r73;
and.b32  	%r75, %r74, 15;
mul.wide.u32 	%rd32, %r75, 4;
add.s64 	%rd33, %rd24, %rd32;
ld.const.f32 	%f16, [%rd33];
mul.rn.f32 	%f5, %f11, %f16;
ld.global.u8 	%r76, [%rd22+13];
setp.lt.u32 	%p7, %r55, 11;
selp.b32 	%r77, 0, 4, %p7;
shr.u32 	%r78, %r76, %r77;
and.b32  	%r79, %r78, 15;
mul.wide.u32 	%rd34, %r79, 4;
add.s64 	%rd35, %rd24, %rd34;
ld.const.f32 	%f17, [%rd35];
mul.rn.f32 	%f6, %f11, %f17;
ld.global.u8 	%r80, [%rd22+14];
setp.lt.u32 	%p8, %r55, 10;
selp.b32 	%r81, 0, 4, %p8;
shr.u32 	%r82, %r80, %r81;
and.b32  	%r83, %r82, 15;
mul.wide.u32 	%rd36, %r83, 4;
add.s64 	%rd37, %rd24, %rd36;
ld.const.f32 	%f18, [%rd37];
mul.rn.f32 	%f7, %f11, %f18;
ld.global.u8 	%r84, [%rd22+15];
setp.lt.u32 	%p9, %r55, 9;
selp.b32 	%r85, 0, 4, %p9;
shr.u32 	%r86, %r84, %r85;
and.b32  	%r87, %r86, 15;
mul.wide.u32 	%rd38, %r87, 4;
add.s64 	%rd39, %rd24, %rd38;
ld.const.f32 	%f19, [%rd39];
mul.rn.f32 	%f8, %f11, %f19;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p10, %rd8, 0;
@%p10 bra 	LBB18_19;
bra.uni 	LBB18_2;
LBB18_19:
setp.eq.s64 	%p11, %rd8, 1;
@%p11 bra 	LBB18_18;
bra.uni 	LBB18_20;
LBB18_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB18_24;
LBB18_2:
shl.b64 	%rd41, %rd3, 2;
add.s64 	%rd5, %rd1, %rd41;
setp.gt.u64 	%p35, %rd4, 7;
@%p35 bra 	LBB18_17;
setp.eq.s64 	%p36, %rd4, 0;
@%p36 bra 	LBB18_5;
st.global.f32 	[%rd5], %f1;
LBB18_5:
setp.lt.u64 	%p37, %rd4, 2;
@%p37 bra 	LBB18_7;
st.global.f32 	[%rd5+4], %f2;
LBB18_7:
setp.lt.u64 	%p38, %rd4, 3;
@%p38 bra 	LBB18_9;
st.global.f32 	[%rd5+8], %f3;
LBB18_9:
setp.lt.u64 	%p39, %rd4, 4;
@%p39 bra 	LBB18_11;
st.global.f32 	[%rd5+12], %f4;
LBB18_11:
setp.lt.u64 	%p40, %rd4, 5;
@%p40 bra 	LBB18_13;
st.global.f32 	[%rd5+16], %f5;
LBB18_13:
setp.lt.u64 	%p41, %rd4, 6;
@%p41 bra 	LBB18_15;
st.global.f32 	[%rd5+20], %f6;
LBB18_15:
setp.lt.u64 	%p42, %rd4, 7;
@%p42 bra 	LBB18_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB18_75;
LBB18_20:
mov.b32 	%r1, %f1;
and.b32  	%r88, %r1, 2147483647;
setp.lt.u32 	%p12, %r88, 2139095041;
@%p12 bra 	LBB18_22;
shr.u32 	%r92, %r1, 16;
or.b32  	%r158, %r92, 64;
bra.uni 	LBB18_23;
LBB18_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB18_75;
LBB18_22:
bfe.u32 	%r89, %r1, 16, 1;
add.s32 	%r90, %r1, %r89;
add.s32 	%r91, %r90, 32767;
shr.u32 	%r158, %r91, 16;
LBB18_23:
cvt.u16.u32 	%rs3, %r158;
LBB18_24:
@%p11 bra 	LBB18_28;
bra.uni 	LBB18_25;
LBB18_28:
cvt.rn.f16.f32 %rs53, %f2;
bra.uni 	LBB18_29;
LBB18_25:
mov.b32 	%r5, %f2;
and.b32  	%r93, %r5, 2147483647;
setp.gt.u32 	%p14, %r93, 2139095040;
@%p14 bra 	LBB18_27;
bra.uni 	LBB18_26;
LBB18_27:
shr.u32 	%r97, %r5, 16;
or.b32  	%r7, %r97, 64;
cvt.u16.u32 	%rs53, %r7;
bra.uni 	LBB18_29;
LBB18_26:
bfe.u32 	%r94, %r5, 16, 1;
add.s32 	%r95, %r5, %r94;
add.s32 	%r96, %r95, 32767;
shr.u32 	%r6, %r96, 16;
cvt.u16.u32 	%rs53, %r6;
LBB18_29:
@%p11 bra 	LBB18_33;
bra.uni 	LBB18_30;
LBB18_33:
cvt.rn.f16.f32 %rs54, %f3;
bra.uni 	LBB18_34;
LBB18_30:
mov.b32 	%r9, %f3;
and.b32  	%r98, %r9, 2147483647;
setp.gt.u32 	%p16, %r98, 2139095040;
@%p16 bra 	LBB18_32;
bra.uni 	LBB18_31;
LBB18_32:
shr.u32 	%r102, %r9, 16;
or.b32  	%r11, %r102, 64;
cvt.u16.u32 	%rs54, %r11;
bra.uni 	LBB18_34;
LBB18_31:
bfe.u32 	%r99, %r9, 16, 1;
add.s32 	%r100, %r9, %r99;
add.s32 	%r101, %r100, 32767;
shr.u32 	%r10, %r101, 16;
cvt.u16.u32 	%rs54, %r10;
LBB18_34:
@%p11 bra 	LBB18_38;
bra.uni 	LBB18_35;
LBB18_38:
cvt.rn.f16.f32 %rs55, %f4;
bra.uni 	LBB18_39;
LBB18_35:
mov.b32 	%r13, %f4;
and.b32  	%r103, %r13, 2147483647;
setp.gt.u32 	%p18, %r103, 2139095040;
@%p18 bra 	LBB18_37;
bra.uni 	LBB18_36;
LBB18_37:
shr.u32 	%r107, %r13, 16;
or.b32  	%r15, %r107, 64;
cvt.u16.u32 	%rs55, %r15;
bra.uni 	LBB18_39;
LBB18_36:
bfe.u32 	%r104, %r13, 16, 1;
add.s32 	%r105, %r13, %r104;
add.s32 	%r106, %r105, 32767;
shr.u32 	%r14, %r106, 16;
cvt.u16.u32 	%rs55, %r14;
LBB18_39:
@%p11 bra 	LBB18_43;
bra.uni 	LBB18_40;
LBB18_43:
cvt.rn.f16.f32 %rs56, %f5;
bra.uni 	LBB18_44;
LBB18_40:
mov.b32 	%r17, %f5;
and.b32  	%r108, %r17, 2147483647;
setp.gt.u32 	%p20, %r108, 2139095040;
@%p20 bra 	LBB18_42;
bra.uni 	LBB18_41;
LBB18_42:
shr.u32 	%r112, %r17, 16;
or.b32  	%r19, %r112, 64;
cvt.u16.u32 	%rs56, %r19;
bra.uni 	LBB18_44;
LBB18_41:
bfe.u32 	%r109, %r17, 16, 1;
add.s32 	%r110, %r17, %r109;
add.s32 	%r111, %r110, 32767;
shr.u32 	%r18, %r111, 16;
cvt.u16.u32 	%rs56, %r18;
LBB18_44:
@%p11 bra 	LBB18_48;
bra.uni 	LBB18_45;
LBB18_48:
cvt.rn.f16.f32 %rs57, %f6;
bra.uni 	LBB18_49;
LBB18_45:
mov.b32 	%r21, %f6;
and.b32  	%r113, %r21, 2147483647;
setp.gt.u32 	%p22, %r113, 2139095040;
@%p22 bra 	LBB18_47;
bra.uni 	LBB18_46;
LBB18_47:
shr.u32 	%r117, %r21, 16;
or.b32  	%r23, %r117, 64;
cvt.u16.u32 	%rs57, %r23;
bra.uni 	LBB18_49;
LBB18_46:
bfe.u32 	%r114, %r21, 16, 1;
add.s32 	%r115, %r21, %r114;
add.s32 	%r116, %r115, 32767;
shr.u32 	%r22, %r116, 16;
cvt.u16.u32 	%rs57, %r22;
LBB18_49:
@%p11 bra 	LBB18_53;
bra.uni 	LBB18_50;
LBB18_53:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB18_54;
LBB18_50:
mov.b32 	%r25, %f7;
and.b32  	%r118, %r25, 2147483647;
setp.gt.u32 	%p24, %r118, 2139095040;
@%p24 bra 	LBB18_52;
bra.uni 	LBB18_51;
LBB18_52:
shr.u32 	%r122, %r25, 16;
or.b32  	%r27, %r122, 64;
cvt.u16.u32 	%rs58, %r27;
bra.uni 	LBB18_54;
LBB18_51:
bfe.u32 	%r119, %r25, 16, 1;
add.s32 	%r120, %r25, %r119;
add.s32 	%r121, %r120, 32767;
shr.u32 	%r26, %r121, 16;
cvt.u16.u32 	%rs58, %r26;
LBB18_54:
@%p11 bra 	LBB18_58;
bra.uni 	LBB18_55;
LBB18_58:
cvt.rn.f16.f32 %rs59, %f8;
bra.uni 	LBB18_59;
LBB18_55:
mov.b32 	%r29, %f8;
and.b32  	%r123, %r29, 2147483647;
setp.gt.u32 	%p26, %r123, 2139095040;
@%p26 bra 	LBB18_57;
bra.uni 	LBB18_56;
LBB18_57:
shr.u32 	%r127, %r29, 16;
or.b32  	%r31, %r127, 64;
cvt.u16.u32 	%rs59, %r31;
bra.uni 	LBB18_59;
LBB18_56:
bfe.u32 	%r124, %r29, 16, 1;
add.s32 	%r125, %r29, %r124;
add.s32 	%r126, %r125, 32767;
shr.u32 	%r30, %r126, 16;
cvt.u16.u32 	%rs59, %r30;
LBB18_59:
shl.b64 	%rd40, %rd3, 1;
add.s64 	%rd6, %rd1, %rd40;
setp.lt.u64 	%p27, %rd4, 8;
@%p27 bra 	LBB18_61;
bra.uni 	LBB18_60;
LBB18_61:
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB18_63;
st.global.u16 	[%rd6], %rs3;
LBB18_63:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB18_65;
st.global.u16 	[%rd6+2], %rs53;
LBB18_65:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB18_67;
st.global.u16 	[%rd6+4], %rs54;
LBB18_67:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB18_69;
st.global.u16 	[%rd6+6], %rs55;
LBB18_69:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB18_71;
st.global.u16 	[%rd6+8], %rs56;
LBB18_71:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB18_73;
st.global.u16 	[%rd6+10], %rs57;
LBB18_73:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB18_75;
st.global.u16 	[%rd6+12], %rs58;
bra.uni 	LBB18_75;
LBB18_60:
cvt.u32.u16 	%r128, %rs3;
cvt.u32.u16 	%r129, %rs53;
shl.b32 	%r130, %r129, 16;
or.b32  	%r131, %r130, %r128;
cvt.u32.u16 	%r132, %rs54;
cvt.u32.u16 	%r133, %rs55;
shl.b32 	%r134, %r133, 16;
or.b32  	%r135, %r134, %r132;
cvt.u32.u16 	%r136, %rs56;
cvt.u32.u16 	%r137, %rs57;
shl.b32 	%r138, %r137, 16;
or.b32  	%r139, %r138, %r136;
cvt.u32.u16 	%r140, %rs58;
cvt.u32.u16 	%r141, %rs59;
shl.b32 	%r142, %r141, 16;
or.b32  	%r143, %r142, %r140;
st.global.v4.u32 	[%rd6], {%r131, %r135, %r139, %r143};
LBB18_75:
ret;
}
)ptx";
constexpr char k_ggml_q2_k[] = R"ptx(.visible .entry ggml_q2_k(
.param .u64 ggml_q2_k_param_0,
.param .u64 ggml_q2_k_param_1,
.param .u64 ggml_q2_k_param_2,
.param .u64 ggml_q2_k_param_3,
.param .u64 ggml_q2_k_param_4,
.param .u64 ggml_q2_k_param_5,
.param .u64 ggml_q2_k_param_6,
.param .u64 ggml_q2_k_param_7,
.param .u64 ggml_q2_k_param_8
)
{
.reg .pred 	%p<35>;
.reg .b16 	%rs<63>;
.reg .b32 	%r<138>;
.reg .f32 	%f<39>;
.reg .b64 	%rd<26>;
ld.param.u64 	%rd7, [ggml_q2_k_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB19_75;
ld.param.u64 	%rd8, [ggml_q2_k_param_8];
ld.param.u64 	%rd9, [ggml_q2_k_param_0];
ld.param.u64 	%rd10, [ggml_q2_k_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 8;
mul.lo.s64 	%rd15, %rd14, 84;
add.s64 	%rd16, %rd2, %rd15;
cvt.u32.u64 	%r36, %rd3;
shr.u32 	%r37, %r36, 4;
bfe.u32 	%r38, %r36, 4, 4;
cvt.u64.u32 	%rd17, %r38;
add.s64 	%rd18, %rd16, %rd17;
ld.global.u8 	%r39, [%rd18];
ld.global.u8 	%rs27, [%rd16+80];
ld.global.u8 	%rs28, [%rd16+81];
shl.b16 	%rs29, %rs28, 8;
or.b16  	%rs25, %rs29, %rs27;
cvt.f32.f16 %f9, %rs25;
and.b32  	%r40, %r39, 15;
cvt.rn.f32.u32 	%f11, %r40;
mul.rn.f32 	%f12, %f9, %f11;
ld.global.u8 	%rs30, [%rd16+82];
ld.global.u8 	%rs31, [%rd16+83];
shl.b16 	%rs32, %rs31, 8;
or.b16  	%rs26, %rs32, %rs30;
cvt.f32.f16 %f10, %rs26;
shr.u32 	%r41, %r39, 4;
cvt.rn.f32.u32 	%f13, %r41;
mul.rn.f32 	%f14, %f10, %f13;
shr.u64 	%rd19, %rd3, 2;
and.b64  	%rd20, %rd19, 32;
and.b64  	%rd21, %rd3, 24;
or.b64  	%rd22, %rd20, %rd21;
add.s64 	%rd23, %rd16, %rd22;
ld.global.u8 	%r42, [%rd23+16];
and.b32  	%r43, %r37, 6;
shr.u32 	%r44, %r42, %r43;
and.b32  	%r45, %r44, 3;
cvt.rn.f32.u32 	%f15, %r45;
mul.rn.f32 	%f16, %f12, %f15;
sub.rn.f32 	%f1, %f16, %f14;
ld.global.u8 	%r46, [%rd23+17];
shr.u32 	%r47, %r46, %r43;
and.b32  	%r48, %r47, 3;
cvt.rn.f32.u32 	%f17, %r48;
mul.rn.f32 	%f18, %f12, %f17;
sub.rn.f32 	%f2, %f18, %f14;
ld.global.u8 	%r49, [%rd23+18];
shr.u32 	%r50, %r49, %r43;
and.b32  	%r51, %r50, 3;
cvt.rn.f32.u32 	%f19, %r51;
mul.rn.f32 	%f20, %f12, %f19;
sub.rn.f32 	%f3, %f20, %f14;
ld.global.u8 	%r52, [%rd23+19];
shr.u32 	%r53, %r52, %r43;
and.b32  	%r54, %r53, 3;
cvt.rn.f32.u32 	%f21, %r54;
mul.rn.f32 	%f22, %f12, %f21;
sub.rn.f32 	%f4, %f22, %f14;
ld.global.u8 	%r55, [%rd23+20];
shr.u32 	%r56, %r55, %r43;
and.b32  	%r57, %r56, 3;
cvt.rn.f32.u32 	%f23, %r57;
mul.rn.f32 	%f24, %f12, %f23;
sub.rn.f32 	%f5, %f24, %f14;
ld.global.u8 	%r58, [%rd23+21];
shr.u32 	%r59, %r58, %r43;
and.b32  	%r60, %r59, 3;
cvt.rn.f32.u32 	%f25, %r60;
mul.rn.f32 	%f26, %f12, %f25;
sub.rn.f32 	%f6, %f26, %f14;
ld.global.u8 	%r61, [%rd23+22];
shr.u32 	%r62, %r61, %r43;
and.b32  	%r63, %r62, 3;
cvt.rn.f32.u32 	%f27, %r63;
mul.rn.f32 	%f28, %f12, %f27;
sub.rn.f32 	%f7, %f28, %f14;
ld.global.u8 	%r64, [%rd23+23];
shr.u32 	%r65, %r64, %r43;
and.b32  	%r66, %r65, 3;
cvt.rn.f32.u32 	%f29, %r66;
mul.rn.f32 	%f30, %f12, %f29;
sub.rn.f32 	%f8, %f30, %f14;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p2, %rd8, 0;
@%p2 bra 	LBB19_19;
bra.uni 	LBB19_2;
LBB19_19:
setp.eq.s64 	%p3, %rd8, 1;
@%p3 bra 	LBB19_18;
bra.uni 	LBB19_20;
LBB19_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB19_24;
LBB19_2:
shl.b64 	%rd25, %rd3, 2;
add.s64 	%rd5, %rd1, %rd25;
setp.gt.u64 	%p27, %rd4, 7;
@%p27 bra 	LBB19_17;
setp.eq.s64 	%p28, %rd4, 0;
@%p28 bra 	LBB19_5;
st.global.f32 	[%rd5], %f1;
LBB19_5:
setp.lt.u64 	%p29, %rd4, 2;
@%p29 bra 	LBB19_7;
st.global.f32 	[%rd5+4], %f2;
LBB19_7:
setp.lt.u64 	%p30, %rd4, 3;
@%p30 bra 	LBB19_9;
st.global.f32 	[%rd5+8], %f3;
LBB19_9:
setp.lt.u64 	%p31, %rd4, 4;
@%p31 bra 	LBB19_11;
st.global.f32 	[%rd5+12], %f4;
LBB19_11:
setp.lt.u64 	%p32, %rd4, 5;
@%p32 bra 	LBB19_13;
st.global.f32 	[%rd5+16], %f5;
LBB19_13:
setp.lt.u64 	%p33, %rd4, 6;
@%p33 bra 	LBB19_15;
st.global.f32 	[%rd5+20], %f6;
LBB19_15:
setp.lt.u64 	%p34, %rd4, 7;
@%p34 bra 	LBB19_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB19_75;
LBB19_20:
mov.b32 	%r1, %f1;
and.b32  	%r67, %r1, 2147483647;
setp.lt.u32 	%p4, %r67, 2139095041;
@%p4 bra 	LBB19_22;
shr.u32 	%r71, %r1, 16;
or.b32  	%r137, %r71, 64;
bra.uni 	LBB19_23;
LBB19_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB19_75;
LBB19_22:
bfe.u32 	%r68, %r1, 16, 1;
add.s32 	%r69, %r1, %r68;
add.s32 	%r70, %r69, 32767;
shr.u32 	%r137, %r70, 16;
LBB19_23:
cvt.u16.u32 	%rs3, %r137;
LBB19_24:
@%p3 bra 	LBB19_28;
bra.uni 	LBB19_25;
LBB19_28:
cvt.rn.f16.f32 %rs56, %f2;
bra.uni 	LBB19_29;
LBB19_25:
mov.b32 	%r5, %f2;
and.b32  	%r72, %r5, 2147483647;
setp.gt.u32 	%p6, %r72, 2139095040;
@%p6 bra 	LBB19_27;
bra.uni 	LBB19_26;
LBB19_27:
shr.u32 	%r76, %r5, 16;
or.b32  	%r7, %r76, 64;
cvt.u16.u32 	%rs56, %r7;
bra.uni 	LBB19_29;
LBB19_26:
bfe.u32 	%r73, %r5, 16, 1;
add.s32 	%r74, %r5, %r73;
add.s32 	%r75, %r74, 32767;
shr.u32 	%r6, %r75, 16;
cvt.u16.u32 	%rs56, %r6;
LBB19_29:
@%p3 bra 	LBB19_33;
bra.uni 	LBB19_30;
LBB19_33:
cvt.rn.f16.f32 %rs57, %f3;
bra.uni 	LBB19_34;
LBB19_30:
mov.b32 	%r9, %f3;
and.b32  	%r77, %r9, 2147483647;
setp.gt.u32 	%p8, %r77, 2139095040;
@%p8 bra 	LBB19_32;
bra.uni 	LBB19_31;
LBB19_32:
shr.u32 	%r81, %r9, 16;
or.b32  	%r11, %r81, 64;
cvt.u16.u32 	%rs57, %r11;
bra.uni 	LBB19_34;
LBB19_31:
bfe.u32 	%r78, %r9, 16, 1;
add.s32 	%r79, %r9, %r78;
add.s32 	%r80, %r79, 32767;
shr.u32 	%r10, %r80, 16;
cvt.u16.u32 	%rs57, %r10;
LBB19_34:
@%p3 bra 	LBB19_38;
bra.uni 	LBB19_35;
LBB19_38:
cvt.rn.f16.f32 %rs58, %f4;
bra.uni 	LBB19_39;
LBB19_35:
mov.b32 	%r13, %f4;
and.b32  	%r82, %r13, 2147483647;
setp.gt.u32 	%p10, %r82, 2139095040;
@%p10 bra 	LBB19_37;
bra.uni 	LBB19_36;
LBB19_37:
shr.u32 	%r86, %r13, 16;
or.b32  	%r15, %r86, 64;
cvt.u16.u32 	%rs58, %r15;
bra.uni 	LBB19_39;
LBB19_36:
bfe.u32 	%r83, %r13, 16, 1;
add.s32 	%r84, %r13, %r83;
add.s32 	%r85, %r84, 32767;
shr.u32 	%r14, %r85, 16;
cvt.u16.u32 	%rs58, %r14;
LBB19_39:
@%p3 bra 	LBB19_43;
bra.uni 	LBB19_40;
LBB19_43:
cvt.rn.f16.f32 %rs59, %f5;
bra.uni 	LBB19_44;
LBB19_40:
mov.b32 	%r17, %f5;
and.b32  	%r87, %r17, 2147483647;
setp.gt.u32 	%p12, %r87, 2139095040;
@%p12 bra 	LBB19_42;
bra.uni 	LBB19_41;
LBB19_42:
shr.u32 	%r91, %r17, 16;
or.b32  	%r19, %r91, 64;
cvt.u16.u32 	%rs59, %r19;
bra.uni 	LBB19_44;
LBB19_41:
bfe.u32 	%r88, %r17, 16, 1;
add.s32 	%r89, %r17, %r88;
add.s32 	%r90, %r89, 32767;
shr.u32 	%r18, %r90, 16;
cvt.u16.u32 	%rs59, %r18;
LBB19_44:
@%p3 bra 	LBB19_48;
bra.uni 	LBB19_45;
LBB19_48:
cvt.rn.f16.f32 %rs60, %f6;
bra.uni 	LBB19_49;
LBB19_45:
mov.b32 	%r21, %f6;
and.b32  	%r92, %r21, 2147483647;
setp.gt.u32 	%p14, %r92, 2139095040;
@%p14 bra 	LBB19_47;
bra.uni 	LBB19_46;
LBB19_47:
shr.u32 	%r96, %r21, 16;
or.b32  	%r23, %r96, 64;
cvt.u16.u32 	%rs60, %r23;
bra.uni 	LBB19_49;
LBB19_46:
bfe.u32 	%r93, %r21, 16, 1;
add.s32 	%r94, %r21, %r93;
add.s32 	%r95, %r94, 32767;
shr.u32 	%r22, %r95, 16;
cvt.u16.u32 	%rs60, %r22;
LBB19_49:
@%p3 bra 	LBB19_53;
bra.uni 	LBB19_50;
LBB19_53:
cvt.rn.f16.f32 %rs61, %f7;
bra.uni 	LBB19_54;
LBB19_50:
mov.b32 	%r25, %f7;
and.b32  	%r97, %r25, 2147483647;
setp.gt.u32 	%p16, %r97, 2139095040;
@%p16 bra 	LBB19_52;
bra.uni 	LBB19_51;
LBB19_52:
shr.u32 	%r101, %r25, 16;
or.b32  	%r27, %r101, 64;
cvt.u16.u32 	%rs61, %r27;
bra.uni 	LBB19_54;
LBB19_51:
bfe.u32 	%r98, %r25, 16, 1;
add.s32 	%r99, %r25, %r98;
add.s32 	%r100, %r99, 32767;
shr.u32 	%r26, %r100, 16;
cvt.u16.u32 	%rs61, %r26;
LBB19_54:
@%p3 bra 	LBB19_58;
bra.uni 	LBB19_55;
LBB19_58:
cvt.rn.f16.f32 %rs62, %f8;
bra.uni 	LBB19_59;
LBB19_55:
mov.b32 	%r29, %f8;
and.b32  	%r102, %r29, 2147483647;
setp.gt.u32 	%p18, %r102, 2139095040;
@%p18 bra 	LBB19_57;
bra.uni 	LBB19_56;
LBB19_57:
shr.u32 	%r106, %r29, 16;
or.b32  	%r31, %r106, 64;
cvt.u16.u32 	%rs62, %r31;
bra.uni 	LBB19_59;
LBB19_56:
bfe.u32 	%r103, %r29, 16, 1;
add.s32 	%r104, %r29, %r103;
add.s32 	%r105, %r104, 32767;
shr.u32 	%r30, %r105, 16;
cvt.u16.u32 	%rs62, %r30;
LBB19_59:
shl.b64 	%rd24, %rd3, 1;
add.s64 	%rd6, %rd1, %rd24;
setp.lt.u64 	%p19, %rd4, 8;
@%p19 bra 	LBB19_61;
bra.uni 	LBB19_60;
LBB19_61:
setp.eq.s64 	%p20, %rd4, 0;
@%p20 bra 	LBB19_63;
st.global.u16 	[%rd6], %rs3;
LBB19_63:
setp.lt.u64 	%p21, %rd4, 2;
@%p21 bra 	LBB19_65;
st.global.u16 	[%rd6+2], %rs56;
LBB19_65:
setp.lt.u64 	%p22, %rd4, 3;
@%p22 bra 	LBB19_67;
st.global.u16 	[%rd6+4], %rs57;
LBB19_67:
setp.lt.u64 	%p23, %rd4, 4;
@%p23 bra 	LBB19_69;
st.global.u16 	[%rd6+6], %rs58;
LBB19_69:
setp.lt.u64 	%p24, %rd4, 5;
@%p24 bra 	LBB19_71;
st.global.u16 	[%rd6+8], %rs59;
LBB19_71:
setp.lt.u64 	%p25, %rd4, 6;
@%p25 bra 	LBB19_73;
st.global.u16 	[%rd6+10], %rs60;
LBB19_73:
setp.lt.u64 	%p26, %rd4, 7;
@%p26 bra 	LBB19_75;
st.global.u16 	[%rd6+12], %rs61;
bra.uni 	LBB19_75;
LBB19_60:
cvt.u32.u16 	%r107, %rs3;
cvt.u32.u16 	%r108, %rs56;
shl.b32 	%r109, %r108, 16;
or.b32  	%r110, %r109, %r107;
cvt.u32.u16 	%r111, %rs57;
cvt.u32.u16 	%r112, %rs58;
shl.b32 	%r113, %r112, 16;
or.b32  	%r114, %r113, %r111;
cvt.u32.u16 	%r115, %rs59;
cvt.u32.u16 	%r116, %rs60;
shl.b32 	%r117, %r116, 16;
or.b32  	%r118, %r117, %r115;
cvt.u32.u16 	%r119, %rs61;
cvt.u32.u16 	%r120, %rs62;
shl.b32 	%r121, %r120, 16;
or.b32  	%r122, %r121, %r119;
st.global.v4.u32 	[%rd6], {%r110, %r114, %r118, %r122};
LBB19_75:
ret;
}
)ptx";
constexpr char k_ggml_q3_k[] = R"ptx(.visible .entry ggml_q3_k(
.param .u64 ggml_q3_k_param_0,
.param .u64 ggml_q3_k_param_1,
.param .u64 ggml_q3_k_param_2,
.param .u64 ggml_q3_k_param_3,
.param .u64 ggml_q3_k_param_4,
.param .u64 ggml_q3_k_param_5,
.param .u64 ggml_q3_k_param_6,
.param .u64 ggml_q3_k_param_7,
.param .u64 ggml_q3_k_param_8
)
{
.reg .pred 	%p<44>;
.reg .b16 	%rs<65>;
.reg .b32 	%r<187>;
.reg .f32 	%f<28>;
.reg .b64 	%rd<30>;
ld.param.u64 	%rd9, [ggml_q3_k_param_7];
mov.u32 	%r36, %ctaid.x;
mov.u32 	%r37, %ntid.x;
mul.wide.s32 	%rd13, %r36, %r37;
mov.u32 	%r38, %tid.x;
cvt.s64.s32 	%rd14, %r38;
add.s64 	%rd15, %rd13, %rd14;
shl.b64 	%rd3, %rd15, 3;
setp.ge.u64 	%p1, %rd3, %rd9;
@%p1 bra 	LBB20_78;
ld.param.u64 	%rd10, [ggml_q3_k_param_8];
ld.param.u64 	%rd11, [ggml_q3_k_param_0];
ld.param.u64 	%rd12, [ggml_q3_k_param_3];
cvta.to.global.u64 	%rd2, %rd11;
shr.u64 	%rd16, %rd3, 8;
mul.lo.s64 	%rd17, %rd16, 110;
add.s64 	%rd4, %rd2, %rd17;
add.s64 	%rd5, %rd4, 96;
cvt.u32.u64 	%r1, %rd3;
and.b32  	%r2, %r1, 248;
bfe.u32 	%r3, %r1, 4, 4;
setp.gt.u32 	%p2, %r2, 127;
@%p2 bra 	LBB20_3;
cvt.u64.u32 	%rd20, %r3;
add.s64 	%rd21, %rd5, %rd20;
ld.global.u8 	%rs29, [%rd21];
and.b16  	%rs56, %rs29, 15;
bra.uni 	LBB20_4;
LBB20_3:
add.s32 	%r39, %r3, -8;
cvt.u64.u32 	%rd18, %r39;
add.s64 	%rd19, %rd5, %rd18;
ld.global.u8 	%rs28, [%rd19];
shr.u16 	%rs56, %rs28, 4;
LBB20_4:
cvta.to.global.u64 	%rd1, %rd12;
cvt.u32.u16 	%r40, %rs56;
and.b32  	%r41, %r3, 3;
cvt.u64.u32 	%rd22, %r41;
add.s64 	%rd23, %rd5, %rd22;
ld.global.u8 	%r42, [%rd23+8];
shr.u32 	%r43, %r1, 5;
and.b32  	%r44, %r43, 6;
shr.u32 	%r45, %r42, %r44;
ld.global.u8 	%rs31, [%rd4+108];
ld.global.u8 	%rs32, [%rd4+109];
shl.b16 	%rs33, %rs32, 8;
or.b16  	%rs30, %rs33, %rs31;
cvt.f32.f16 %f9, %rs30;
shl.b32 	%r46, %r45, 4;
and.b32  	%r47, %r46, 48;
or.b32  	%r48, %r47, %r40;
add.s32 	%r49, %r48, -32;
cvt.rn.f32.s32 	%f10, %r49;
mul.rn.f32 	%f11, %f9, %f10;
and.b32  	%r50, %r1, 24;
shr.u32 	%r51, %r1, 2;
and.b32  	%r52, %r51, 32;
or.b32  	%r53, %r52, %r50;
cvt.u64.u32 	%rd24, %r53;
add.s64 	%rd25, %rd4, %rd24;
cvt.u64.u32 	%rd26, %r50;
add.s64 	%rd27, %rd4, %rd26;
ld.global.u8 	%r54, [%rd27];
shr.u32 	%r55, %r2, 5;
mov.u32 	%r56, 1;
shl.b32 	%r57, %r56, %r55;
and.b32  	%r58, %r57, %r54;
setp.eq.s32 	%p3, %r58, 0;
ld.global.u8 	%r59, [%rd25+32];
and.b32  	%r60, %r3, 6;
shr.u32 	%r61, %r59, %r60;
and.b32  	%r62, %r61, 3;
selp.b32 	%r63, -4, 0, %p3;
or.b32  	%r64, %r63, %r62;
cvt.rn.f32.s32 	%f12, %r64;
mul.rn.f32 	%f1, %f11, %f12;
ld.global.u8 	%r65, [%rd27+1];
and.b32  	%r66, %r57, %r65;
setp.eq.s32 	%p4, %r66, 0;
ld.global.u8 	%r67, [%rd25+33];
shr.u32 	%r68, %r1, 4;
and.b32  	%r69, %r68, 6;
shr.u32 	%r70, %r67, %r69;
and.b32  	%r71, %r70, 3;
selp.b32 	%r72, -4, 0, %p4;
or.b32  	%r73, %r72, %r71;
cvt.rn.f32.s32 	%f13, %r73;
mul.rn.f32 	%f2, %f11, %f13;
ld.global.u8 	%r74, [%rd27+2];
and.b32  	%r75, %r57, %r74;
setp.eq.s32 	%p5, %r75, 0;
ld.global.u8 	%r76, [%rd25+34];
shr.u32 	%r77, %r76, %r69;
and.b32  	%r78, %r77, 3;
selp.b32 	%r79, -4, 0, %p5;
or.b32  	%r80, %r79, %r78;
cvt.rn.f32.s32 	%f14, %r80;
mul.rn.f32 	%f3, %f11, %f14;
ld.global.u8 	%r81, [%rd27+3];
and.b32  	%r82, %r57, %r81;
setp.eq.s32 	%p6, %r82, 0;
ld.global.u8 	%r83, [%rd25+35];
shr.u32 	%r84, %r83, %r69;
and.b32  	%r85, %r84, 3;
selp.b32 	%r86, -4, 0, %p6;
or.b32  	%r87, %r86, %r85;
cvt.rn.f32.s32 	%f15, %r87;
mul.rn.f32 	%f4, %f11, %f15;
ld.global.u8 	%r88, [%rd27+4];
and.b32  	%r89, %r57, %r88;
setp.eq.s32 	%p7, %r89, 0;
ld.global.u8 	%r90, [%rd25+36];
shr.u32 	%r91, %r90, %r69;
and.b32  	%r92, %r91, 3;
selp.b32 	%r93, -4, 0, %p7;
or.b32  	%r94, %r93, %r92;
cvt.rn.f32.s32 	%f16, %r94;
mul.rn.f32 	%f5, %f11, %f16;
ld.global.u8 	%r95, [%rd27+5];
and.b32  	%r96, %r57, %r95;
setp.eq.s32 	%p8, %r96, 0;
ld.global.u8 	%r97, [%rd25+37];
shr.u32 	%r98, %r97, %r69;
and.b32  	%r99, %r98, 3;
selp.b32 	%r100, -4, 0, %p8;
or.b32  	%r101, %r100, %r99;
cvt.rn.f32.s32 	%f17, %r101;
mul.rn.f32 	%f6, %f11, %f17;
ld.global.u8 	%r102, [%rd27+6];
and.b32  	%r103, %r57, %r102;
setp.eq.s32 	%p9, %r103, 0;
ld.global.u8 	%r104, [%rd25+38];
shr.u32 	%r105, %r104, %r69;
and.b32  	%r106, %r105, 3;
selp.b32 	%r107, -4, 0, %p9;
or.b32  	%r108, %r107, %r106;
cvt.rn.f32.s32 	%f18, %r108;
mul.rn.f32 	%f7, %f11, %f18;
ld.global.u8 	%r109, [%rd27+7];
and.b32  	%r110, %r57, %r109;
setp.eq.s32 	%p10, %r110, 0;
ld.global.u8 	%r111, [%rd25+39];
shr.u32 	%r112, %r111, %r69;
and.b32  	%r113, %r112, 3;
selp.b32 	%r114, -4, 0, %p10;
or.b32  	%r115, %r114, %r113;
cvt.rn.f32.s32 	%f19, %r115;
mul.rn.f32 	%f8, %f11, %f19;
sub.s64 	%rd6, %rd9, %rd3;
setp.ne.s64 	%p11, %rd10, 0;
@%p11 bra 	LBB20_22;
bra.uni 	LBB20_5;
LBB20_22:
setp.eq.s64 	%p12, %rd10, 1;
@%p12 bra 	LBB20_21;
bra.uni 	LBB20_23;
LBB20_21:
cvt.rn.f16.f32 %rs6, %f1;
bra.uni 	LBB20_27;
LBB20_5:
shl.b64 	%rd29, %rd3, 2;
add.s64 	%rd7, %rd1, %rd29;
setp.gt.u64 	%p36, %rd6, 7;
@%p36 bra 	LBB20_20;
setp.eq.s64 	%p37, %rd6, 0;
@%p37 bra 	LBB20_8;
st.global.f32 	[%rd7], %f1;
LBB20_8:
setp.lt.u64 	%p38, %rd6, 2;
@%p38 bra 	LBB20_10;
st.global.f32 	[%rd7+4], %f2;
LBB20_10:
setp.lt.u64 	%p39, %rd6, 3;
@%p39 bra 	LBB20_12;
st.global.f32 	[%rd7+8], %f3;
LBB20_12:
setp.lt.u64 	%p40, %rd6, 4;
@%p40 bra 	LBB20_14;
st.global.f32 	[%rd7+12], %f4;
LBB20_14:
setp.lt.u64 	%p41, %rd6, 5;
@%p41 bra 	LBB20_16;
st.global.f32 	[%rd7+16], %f5;
LBB20_16:
setp.lt.u64 	%p42, %rd6, 6;
@%p42 bra 	LBB20_18;
st.global.f32 	[%rd7+20], %f6;
LBB20_18:
setp.lt.u64 	%p43, %rd6, 7;
@%p43 bra 	LBB20_78;
st.global.f32 	[%rd7+24], %f7;
bra.uni 	LBB20_78;
LBB20_23:
mov.b32 	%r4, %f1;
and.b32  	%r116, %r4, 2147483647;
setp.lt.u32 	%p13, %r116, 2139095041;
@%p13 bra 	LBB20_25;
shr.u32 	%r120, %r4, 16;
or.b32  	%r186, %r120, 64;
bra.uni 	LBB20_26;
LBB20_20:
st.global.v4.f32 	[%rd7], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd7+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB20_78;
LBB20_25:
bfe.u32 	%r117, %r4, 16, 1;
add.s32 	%r118, %r4, %r117;
add.s32 	%r119, %r118, 32767;
shr.u32 	%r186, %r119, 16;
LBB20_26:
cvt.u16.u32 	%rs6, %r186;
LBB20_27:
@%p12 bra 	LBB20_31;
bra.uni 	LBB20_28;
LBB20_31:
cvt.rn.f16.f32 %rs58, %f2;
bra.uni 	LBB20_32;
LBB20_28:
mov.b32 	%r8, %f2;
and.b32  	%r121, %r8, 2147483647;
setp.gt.u32 	%p15, %r121, 2139095040;
@%p15 bra 	LBB20_30;
bra.uni 	LBB20_29;
LBB20_30:
shr.u32 	%r125, %r8, 16;
or.b32  	%r10, %r125, 64;
cvt.u16.u32 	%rs58, %r10;
bra.uni 	LBB20_32;
LBB20_29:
bfe.u32 	%r122, %r8, 16, 1;
add.s32 	%r123, %r8, %r122;
add.s32 	%r124, %r123, 32767;
shr.u32 	%r9, %r124, 16;
cvt.u16.u32 	%rs58, %r9;
LBB20_32:
@%p12 bra 	LBB20_36;
bra.uni 	LBB20_33;
LBB20_36:
cvt.rn.f16.f32 %rs59, %f3;
bra.uni 	LBB20_37;
LBB20_33:
mov.b32 	%r12, %f3;
and.b32  	%r126, %r12, 2147483647;
setp.gt.u32 	%p17, %r126, 2139095040;
@%p17 bra 	LBB20_35;
bra.uni 	LBB20_34;
LBB20_35:
shr.u32 	%r130, %r12, 16;
or.b32  	%r14, %r130, 64;
cvt.u16.u32 	%rs59, %r14;
bra.uni 	LBB20_37;
LBB20_34:
bfe.u32 	%r127, %r12, 16, 1;
add.s32 	%r128, %r12, %r127;
add.s32 	%r129, %r128, 32767;
shr.u32 	%r13, %r129, 16;
cvt.u16.u32 	%rs59, %r13;
LBB20_37:
@%p12 bra 	LBB20_41;
bra.uni 	LBB20_38;
LBB20_41:
cvt.rn.f16.f32 %rs60, %f4;
bra.uni 	LBB20_42;
LBB20_38:
mov.b32 	%r16, %f4;
and.b32  	%r131, %r16, 2147483647;
setp.gt.u32 	%p19, %r131, 2139095040;
@%p19 bra 	LBB20_40;
bra.uni 	LBB20_39;
LBB20_40:
shr.u32 	%r135, %r16, 16;
or.b32  	%r18, %r135, 64;
cvt.u16.u32 	%rs60, %r18;
bra.uni 	LBB20_42;
LBB20_39:
bfe.u32 	%r132, %r16, 16, 1;
add.s32 	%r133, %r16, %r132;
add.s32 	%r134, %r133, 32767;
shr.u32 	%r17, %r134, 16;
cvt.u16.u32 	%rs60, %r17;
LBB20_42:
@%p12 bra 	LBB20_46;
bra.uni 	LBB20_43;
LBB20_46:
cvt.rn.f16.f32 %rs61, %f5;
bra.uni 	LBB20_47;
LBB20_43:
mov.b32 	%r20, %f5;
and.b32  	%r136, %r20, 2147483647;
setp.gt.u32 	%p21, %r136, 2139095040;
@%p21 bra 	LBB20_45;
bra.uni 	LBB20_44;
LBB20_45:
shr.u32 	%r140, %r20, 16;
or.b32  	%r22, %r140, 64;
cvt.u16.u32 	%rs61, %r22;
bra.uni 	LBB20_47;
LBB20_44:
bfe.u32 	%r137, %r20, 16, 1;
add.s32 	%r138, %r20, %r137;
add.s32 	%r139, %r138, 32767;
shr.u32 	%r21, %r139, 16;
cvt.u16.u32 	%rs61, %r21;
LBB20_47:
@%p12 bra 	LBB20_51;
bra.uni 	LBB20_48;
LBB20_51:
cvt.rn.f16.f32 %rs62, %f6;
bra.uni 	LBB20_52;
LBB20_48:
mov.b32 	%r24, %f6;
and.b32  	%r141, %r24, 2147483647;
setp.gt.u32 	%p23, %r141, 2139095040;
@%p23 bra 	LBB20_50;
bra.uni 	LBB20_49;
LBB20_50:
shr.u32 	%r145, %r24, 16;
or.b32  	%r26, %r145, 64;
cvt.u16.u32 	%rs62, %r26;
bra.uni 	LBB20_52;
LBB20_49:
bfe.u32 	%r142, %r24, 16, 1;
add.s32 	%r143, %r24, %r142;
add.s32 	%r144, %r143, 32767;
shr.u32 	%r25, %r144, 16;
cvt.u16.u32 	%rs62, %r25;
LBB20_52:
@%p12 bra 	LBB20_56;
bra.uni 	LBB20_53;
LBB20_56:
cvt.rn.f16.f32 %rs63, %f7;
bra.uni 	LBB20_57;
LBB20_53:
mov.b32 	%r28, %f7;
and.b32  	%r146, %r28, 2147483647;
setp.gt.u32 	%p25, %r146, 2139095040;
@%p25 bra 	LBB20_55;
bra.uni 	LBB20_54;
LBB20_55:
shr.u32 	%r150, %r28, 16;
or.b32  	%r30, %r150, 64;
cvt.u16.u32 	%rs63, %r30;
bra.uni 	LBB20_57;
LBB20_54:
bfe.u32 	%r147, %r28, 16, 1;
add.s32 	%r148, %r28, %r147;
add.s32 	%r149, %r148, 32767;
shr.u32 	%r29, %r149, 16;
cvt.u16.u32 	%rs63, %r29;
LBB20_57:
@%p12 bra 	LBB20_61;
bra.uni 	LBB20_58;
LBB20_61:
cvt.rn.f16.f32 %rs64, %f8;
bra.uni 	LBB20_62;
LBB20_58:
mov.b32 	%r32, %f8;
and.b32  	%r151, %r32, 2147483647;
setp.gt.u32 	%p27, %r151, 2139095040;
@%p27 bra 	LBB20_60;
bra.uni 	LBB20_59;
LBB20_60:
shr.u32 	%r155, %r32, 16;
or.b32  	%r34, %r155, 64;
cvt.u16.u32 	%rs64, %r34;
bra.uni 	LBB20_62;
LBB20_59:
bfe.u32 	%r152, %r32, 16, 1;
add.s32 	%r153, %r32, %r152;
add.s32 	%r154, %r153, 32767;
shr.u32 	%r33, %r154, 16;
cvt.u16.u32 	%rs64, %r33;
LBB20_62:
shl.b64 	%rd28, %rd3, 1;
add.s64 	%rd8, %rd1, %rd28;
setp.lt.u64 	%p28, %rd6, 8;
@%p28 bra 	LBB20_64;
bra.uni 	LBB20_63;
LBB20_64:
setp.eq.s64 	%p29, %rd6, 0;
@%p29 bra 	LBB20_66;
st.global.u16 	[%rd8], %rs6;
LBB20_66:
setp.lt.u64 	%p30, %rd6, 2;
@%p30 bra 	LBB20_68;
st.global.u16 	[%rd8+2], %rs58;
LBB20_68:
setp.lt.u64 	%p31, %rd6, 3;
@%p31 bra 	LBB20_70;
st.global.u16 	[%rd8+4], %rs59;
LBB20_70:
setp.lt.u64 	%p32, %rd6, 4;
@%p32 bra 	LBB20_72;
st.global.u16 	[%rd8+6], %rs60;
LBB20_72:
setp.lt.u64 	%p33, %rd6, 5;
@%p33 bra 	LBB20_74;
st.global.u16 	[%rd8+8], %rs61;
LBB20_74:
setp.lt.u64 	%p34, %rd6, 6;
@%p34 bra 	LBB20_76;
st.global.u16 	[%rd8+10], %rs62;
LBB20_76:
setp.lt.u64 	%p35, %rd6, 7;
@%p35 bra 	LBB20_78;
st.global.u16 	[%rd8+12], %rs63;
bra.uni 	LBB20_78;
LBB20_63:
cvt.u32.u16 	%r156, %rs6;
cvt.u32.u16 	%r157, %rs58;
shl.b32 	%r158, %r157, 16;
or.b32  	%r159, %r158, %r156;
cvt.u32.u16 	%r160, %rs59;
cvt.u32.u16 	%r161, %rs60;
shl.b32 	%r162, %r161, 16;
or.b32  	%r163, %r162, %r160;
cvt.u32.u16 	%r164, %rs61;
cvt.u32.u16 	%r165, %rs62;
shl.b32 	%r166, %r165, 16;
or.b32  	%r167, %r166, %r164;
cvt.u32.u16 	%r168, %rs63;
cvt.u32.u16 	%r169, %rs64;
shl.b32 	%r170, %r169, 16;
or.b32  	%r171, %r170, %r168;
st.global.v4.u32 	[%rd8], {%r159, %r163, %r167, %r171};
LBB20_78:
ret;
}
)ptx";
constexpr char k_ggml_q4_k[] = R"ptx(.visible .entry ggml_q4_k(
.param .u64 ggml_q4_k_param_0,
.param .u64 ggml_q4_k_param_1,
.param .u64 ggml_q4_k_param_2,
.param .u64 ggml_q4_k_param_3,
.param .u64 ggml_q4_k_param_4,
.param .u64 ggml_q4_k_param_5,
.param .u64 ggml_q4_k_param_6,
.param .u64 ggml_q4_k_param_7,
.param .u64 ggml_q4_k_param_8
)
{
.reg .pred 	%p<37>;
.reg .b16 	%rs<82>;
.reg .b32 	%r<147>;
.reg .f32 	%f<39>;
.reg .b64 	%rd<28>;
ld.param.u64 	%rd9, [ggml_q4_k_param_7];
mov.u32 	%r35, %ctaid.x;
mov.u32 	%r36, %ntid.x;
mul.wide.s32 	%rd13, %r35, %r36;
mov.u32 	%r37, %tid.x;
cvt.s64.s32 	%rd14, %r37;
add.s64 	%rd15, %rd13, %rd14;
shl.b64 	%rd3, %rd15, 3;
setp.ge.u64 	%p1, %rd3, %rd9;
@%p1 bra 	LBB21_78;
ld.param.u64 	%rd10, [ggml_q4_k_param_8];
ld.param.u64 	%rd11, [ggml_q4_k_param_0];
ld.param.u64 	%rd12, [ggml_q4_k_param_3];
cvta.to.global.u64 	%rd2, %rd11;
shr.u64 	%rd16, %rd3, 8;
mul.lo.s64 	%rd17, %rd16, 144;
add.s64 	%rd4, %rd2, %rd17;
cvt.u32.u64 	%r1, %rd3;
bfe.u32 	%r2, %r1, 5, 3;
add.s64 	%rd5, %rd4, 4;
setp.gt.u32 	%p2, %r2, 3;
@%p2 bra 	LBB21_3;
cvt.u64.u32 	%rd22, %r2;
add.s64 	%rd23, %rd5, %rd22;
ld.global.u8 	%rs40, [%rd23];
and.b16  	%rs72, %rs40, 63;
ld.global.u8 	%rs41, [%rd23+4];
and.b16  	%rs73, %rs41, 63;
bra.uni 	LBB21_4;
LBB21_3:
cvt.u64.u32 	%rd18, %r2;
add.s64 	%rd19, %rd5, %rd18;
ld.global.u8 	%rs31, [%rd19+4];
and.b16  	%rs32, %rs31, 15;
add.s32 	%r38, %r2, -4;
cvt.u64.u32 	%rd20, %r38;
add.s64 	%rd21, %rd5, %rd20;
ld.global.u8 	%rs33, [%rd21];
shr.u16 	%rs34, %rs33, 2;
and.b16  	%rs35, %rs34, 48;
or.b16  	%rs72, %rs35, %rs32;
shr.u16 	%rs36, %rs31, 4;
ld.global.u8 	%rs37, [%rd19];
shr.u16 	%rs38, %rs37, 2;
and.b16  	%rs39, %rs38, 48;
or.b16  	%rs73, %rs39, %rs36;
LBB21_4:
cvta.to.global.u64 	%rd1, %rd12;
ld.global.u8 	%rs44, [%rd4];
ld.global.u8 	%rs45, [%rd4+1];
shl.b16 	%rs46, %rs45, 8;
or.b16  	%rs42, %rs46, %rs44;
cvt.f32.f16 %f9, %rs42;
cvt.rn.f32.u16 	%f11, %rs72;
mul.rn.f32 	%f12, %f9, %f11;
ld.global.u8 	%rs47, [%rd4+2];
ld.global.u8 	%rs48, [%rd4+3];
shl.b16 	%rs49, %rs48, 8;
or.b16  	%rs43, %rs49, %rs47;
cvt.f32.f16 %f10, %rs43;
cvt.rn.f32.u16 	%f13, %rs73;
mul.rn.f32 	%f14, %f10, %f13;
shr.u32 	%r39, %r1, 1;
and.b32  	%r40, %r39, 96;
and.b32  	%r41, %r1, 24;
and.b32  	%r42, %r1, 32;
setp.eq.s32 	%p3, %r42, 0;
or.b32  	%r43, %r41, %r40;
cvt.u64.u32 	%rd24, %r43;
add.s64 	%rd25, %rd4, %rd24;
ld.global.u8 	%r44, [%rd25+16];
and.b32  	%r45, %r44, 15;
shr.u32 	%r46, %r44, 4;
selp.b32 	%r47, %r45, %r46, %p3;
cvt.rn.f32.u32 	%f15, %r47;
mul.rn.f32 	%f16, %f12, %f15;
sub.rn.f32 	%f1, %f16, %f14;
ld.global.u8 	%r48, [%rd25+17];
and.b32  	%r49, %r48, 15;
shr.u32 	%r50, %r48, 4;
selp.b32 	%r51, %r49, %r50, %p3;
cvt.rn.f32.u32 	%f17, %r51;
mul.rn.f32 	%f18, %f12, %f17;
sub.rn.f32 	%f2, %f18, %f14;
ld.global.u8 	%r52, [%rd25+18];
and.b32  	%r53, %r52, 15;
shr.u32 	%r54, %r52, 4;
selp.b32 	%r55, %r53, %r54, %p3;
cvt.rn.f32.u32 	%f19, %r55;
mul.rn.f32 	%f20, %f12, %f19;
sub.rn.f32 	%f3, %f20, %f14;
ld.global.u8 	%r56, [%rd25+19];
and.b32  	%r57, %r56, 15;
shr.u32 	%r58, %r56, 4;
selp.b32 	%r59, %r57, %r58, %p3;
cvt.rn.f32.u32 	%f21, %r59;
mul.rn.f32 	%f22, %f12, %f21;
sub.rn.f32 	%f4, %f22, %f14;
ld.global.u8 	%r60, [%rd25+20];
and.b32  	%r61, %r60, 15;
shr.u32 	%r62, %r60, 4;
selp.b32 	%r63, %r61, %r62, %p3;
cvt.rn.f32.u32 	%f23, %r63;
mul.rn.f32 	%f24, %f12, %f23;
sub.rn.f32 	%f5, %f24, %f14;
ld.global.u8 	%r64, [%rd25+21];
and.b32  	%r65, %r64, 15;
shr.u32 	%r66, %r64, 4;
selp.b32 	%r67, %r65, %r66, %p3;
cvt.rn.f32.u32 	%f25, %r67;
mul.rn.f32 	%f26, %f12, %f25;
sub.rn.f32 	%f6, %f26, %f14;
ld.global.u8 	%r68, [%rd25+22];
and.b32  	%r69, %r68, 15;
shr.u32 	%r70, %r68, 4;
selp.b32 	%r71, %r69, %r70, %p3;
cvt.rn.f32.u32 	%f27, %r71;
mul.rn.f32 	%f28, %f12, %f27;
sub.rn.f32 	%f7, %f28, %f14;
ld.global.u8 	%r72, [%rd25+23];
and.b32  	%r73, %r72, 15;
shr.u32 	%r74, %r72, 4;
selp.b32 	%r75, %r73, %r74, %p3;
cvt.rn.f32.u32 	%f29, %r75;
mul.rn.f32 	%f30, %f12, %f29;
sub.rn.f32 	%f8, %f30, %f14;
sub.s64 	%rd6, %rd9, %rd3;
setp.ne.s64 	%p4, %rd10, 0;
@%p4 bra 	LBB21_22;
bra.uni 	LBB21_5;
LBB21_22:
setp.eq.s64 	%p5, %rd10, 1;
@%p5 bra 	LBB21_21;
bra.uni 	LBB21_23;
LBB21_21:
cvt.rn.f16.f32 %rs9, %f1;
bra.uni 	LBB21_27;
LBB21_5:
shl.b64 	%rd27, %rd3, 2;
add.s64 	%rd7, %rd1, %rd27;
setp.gt.u64 	%p29, %rd6, 7;
@%p29 bra 	LBB21_20;
setp.eq.s64 	%p30, %rd6, 0;
@%p30 bra 	LBB21_8;
st.global.f32 	[%rd7], %f1;
LBB21_8:
setp.lt.u64 	%p31, %rd6, 2;
@%p31 bra 	LBB21_10;
st.global.f32 	[%rd7+4], %f2;
LBB21_10:
setp.lt.u64 	%p32, %rd6, 3;
@%p32 bra 	LBB21_12;
st.global.f32 	[%rd7+8], %f3;
LBB21_12:
setp.lt.u64 	%p33, %rd6, 4;
@%p33 bra 	LBB21_14;
st.global.f32 	[%rd7+12], %f4;
LBB21_14:
setp.lt.u64 	%p34, %rd6, 5;
@%p34 bra 	LBB21_16;
st.global.f32 	[%rd7+16], %f5;
LBB21_16:
setp.lt.u64 	%p35, %rd6, 6;
@%p35 bra 	LBB21_18;
st.global.f32 	[%rd7+20], %f6;
LBB21_18:
setp.lt.u64 	%p36, %rd6, 7;
@%p36 bra 	LBB21_78;
st.global.f32 	[%rd7+24], %f7;
bra.uni 	LBB21_78;
LBB21_23:
mov.b32 	%r3, %f1;
and.b32  	%r76, %r3, 2147483647;
setp.lt.u32 	%p6, %r76, 2139095041;
@%p6 bra 	LBB21_25;
shr.u32 	%r80, %r3, 16;
or.b32  	%r146, %r80, 64;
bra.uni 	LBB21_26;
LBB21_20:
st.global.v4.f32 	[%rd7], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd7+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB21_78;
LBB21_25:
bfe.u32 	%r77, %r3, 16, 1;
add.s32 	%r78, %r3, %r77;
add.s32 	%r79, %r78, 32767;
shr.u32 	%r146, %r79, 16;
LBB21_26:
cvt.u16.u32 	%rs9, %r146;
LBB21_27:
@%p5 bra 	LBB21_31;
bra.uni 	LBB21_28;
LBB21_31:
cvt.rn.f16.f32 %rs75, %f2;
bra.uni 	LBB21_32;
LBB21_28:
mov.b32 	%r7, %f2;
and.b32  	%r81, %r7, 2147483647;
setp.gt.u32 	%p8, %r81, 2139095040;
@%p8 bra 	LBB21_30;
bra.uni 	LBB21_29;
LBB21_30:
shr.u32 	%r85, %r7, 16;
or.b32  	%r9, %r85, 64;
cvt.u16.u32 	%rs75, %r9;
bra.uni 	LBB21_32;
LBB21_29:
bfe.u32 	%r82, %r7, 16, 1;
add.s32 	%r83, %r7, %r82;
add.s32 	%r84, %r83, 32767;
shr.u32 	%r8, %r84, 16;
cvt.u16.u32 	%rs75, %r8;
LBB21_32:
@%p5 bra 	LBB21_36;
bra.uni 	LBB21_33;
LBB21_36:
cvt.rn.f16.f32 %rs76, %f3;
bra.uni 	LBB21_37;
LBB21_33:
mov.b32 	%r11, %f3;
and.b32  	%r86, %r11, 2147483647;
setp.gt.u32 	%p10, %r86, 2139095040;
@%p10 bra 	LBB21_35;
bra.uni 	LBB21_34;
LBB21_35:
shr.u32 	%r90, %r11, 16;
or.b32  	%r13, %r90, 64;
cvt.u16.u32 	%rs76, %r13;
bra.uni 	LBB21_37;
LBB21_34:
bfe.u32 	%r87, %r11, 16, 1;
add.s32 	%r88, %r11, %r87;
add.s32 	%r89, %r88, 32767;
shr.u32 	%r12, %r89, 16;
cvt.u16.u32 	%rs76, %r12;
LBB21_37:
@%p5 bra 	LBB21_41;
bra.uni 	LBB21_38;
LBB21_41:
cvt.rn.f16.f32 %rs77, %f4;
bra.uni 	LBB21_42;
LBB21_38:
mov.b32 	%r15, %f4;
and.b32  	%r91, %r15, 2147483647;
setp.gt.u32 	%p12, %r91, 2139095040;
@%p12 bra 	LBB21_40;
bra.uni 	LBB21_39;
LBB21_40:
shr.u32 	%r95, %r15, 16;
or.b32  	%r17, %r95, 64;
cvt.u16.u32 	%rs77, %r17;
bra.uni 	LBB21_42;
LBB21_39:
bfe.u32 	%r92, %r15, 16, 1;
add.s32 	%r93, %r15, %r92;
add.s32 	%r94, %r93, 32767;
shr.u32 	%r16, %r94, 16;
cvt.u16.u32 	%rs77, %r16;
LBB21_42:
@%p5 bra 	LBB21_46;
bra.uni 	LBB21_43;
LBB21_46:
cvt.rn.f16.f32 %rs78, %f5;
bra.uni 	LBB21_47;
LBB21_43:
mov.b32 	%r19, %f5;
and.b32  	%r96, %r19, 2147483647;
setp.gt.u32 	%p14, %r96, 2139095040;
@%p14 bra 	LBB21_45;
bra.uni 	LBB21_44;
LBB21_45:
shr.u32 	%r100, %r19, 16;
or.b32  	%r21, %r100, 64;
cvt.u16.u32 	%rs78, %r21;
bra.uni 	LBB21_47;
LBB21_44:
bfe.u32 	%r97, %r19, 16, 1;
add.s32 	%r98, %r19, %r97;
add.s32 	%r99, %r98, 32767;
shr.u32 	%r20, %r99, 16;
cvt.u16.u32 	%rs78, %r20;
LBB21_47:
@%p5 bra 	LBB21_51;
bra.uni 	LBB21_48;
LBB21_51:
cvt.rn.f16.f32 %rs79, %f6;
bra.uni 	LBB21_52;
LBB21_48:
mov.b32 	%r23, %f6;
and.b32  	%r101, %r23, 2147483647;
setp.gt.u32 	%p16, %r101, 2139095040;
@%p16 bra 	LBB21_50;
bra.uni 	LBB21_49;
LBB21_50:
shr.u32 	%r105, %r23, 16;
or.b32  	%r25, %r105, 64;
cvt.u16.u32 	%rs79, %r25;
bra.uni 	LBB21_52;
LBB21_49:
bfe.u32 	%r102, %r23, 16, 1;
add.s32 	%r103, %r23, %r102;
add.s32 	%r104, %r103, 32767;
shr.u32 	%r24, %r104, 16;
cvt.u16.u32 	%rs79, %r24;
LBB21_52:
@%p5 bra 	LBB21_56;
bra.uni 	LBB21_53;
LBB21_56:
cvt.rn.f16.f32 %rs80, %f7;
bra.uni 	LBB21_57;
LBB21_53:
mov.b32 	%r27, %f7;
and.b32  	%r106, %r27, 2147483647;
setp.gt.u32 	%p18, %r106, 2139095040;
@%p18 bra 	LBB21_55;
bra.uni 	LBB21_54;
LBB21_55:
shr.u32 	%r110, %r27, 16;
or.b32  	%r29, %r110, 64;
cvt.u16.u32 	%rs80, %r29;
bra.uni 	LBB21_57;
LBB21_54:
bfe.u32 	%r107, %r27, 16, 1;
add.s32 	%r108, %r27, %r107;
add.s32 	%r109, %r108, 32767;
shr.u32 	%r28, %r109, 16;
cvt.u16.u32 	%rs80, %r28;
LBB21_57:
@%p5 bra 	LBB21_61;
bra.uni 	LBB21_58;
LBB21_61:
cvt.rn.f16.f32 %rs81, %f8;
bra.uni 	LBB21_62;
LBB21_58:
mov.b32 	%r31, %f8;
and.b32  	%r111, %r31, 2147483647;
setp.gt.u32 	%p20, %r111, 2139095040;
@%p20 bra 	LBB21_60;
bra.uni 	LBB21_59;
LBB21_60:
shr.u32 	%r115, %r31, 16;
or.b32  	%r33, %r115, 64;
cvt.u16.u32 	%rs81, %r33;
bra.uni 	LBB21_62;
LBB21_59:
bfe.u32 	%r112, %r31, 16, 1;
add.s32 	%r113, %r31, %r112;
add.s32 	%r114, %r113, 32767;
shr.u32 	%r32, %r114, 16;
cvt.u16.u32 	%rs81, %r32;
LBB21_62:
shl.b64 	%rd26, %rd3, 1;
add.s64 	%rd8, %rd1, %rd26;
setp.lt.u64 	%p21, %rd6, 8;
@%p21 bra 	LBB21_64;
bra.uni 	LBB21_63;
LBB21_64:
setp.eq.s64 	%p22, %rd6, 0;
@%p22 bra 	LBB21_66;
st.global.u16 	[%rd8], %rs9;
LBB21_66:
setp.lt.u64 	%p23, %rd6, 2;
@%p23 bra 	LBB21_68;
st.global.u16 	[%rd8+2], %rs75;
LBB21_68:
setp.lt.u64 	%p24, %rd6, 3;
@%p24 bra 	LBB21_70;
st.global.u16 	[%rd8+4], %rs76;
LBB21_70:
setp.lt.u64 	%p25, %rd6, 4;
@%p25 bra 	LBB21_72;
st.global.u16 	[%rd8+6], %rs77;
LBB21_72:
setp.lt.u64 	%p26, %rd6, 5;
@%p26 bra 	LBB21_74;
st.global.u16 	[%rd8+8], %rs78;
LBB21_74:
setp.lt.u64 	%p27, %rd6, 6;
@%p27 bra 	LBB21_76;
st.global.u16 	[%rd8+10], %rs79;
LBB21_76:
setp.lt.u64 	%p28, %rd6, 7;
@%p28 bra 	LBB21_78;
st.global.u16 	[%rd8+12], %rs80;
bra.uni 	LBB21_78;
LBB21_63:
cvt.u32.u16 	%r116, %rs9;
cvt.u32.u16 	%r117, %rs75;
shl.b32 	%r118, %r117, 16;
or.b32  	%r119, %r118, %r116;
cvt.u32.u16 	%r120, %rs76;
cvt.u32.u16 	%r121, %rs77;
shl.b32 	%r122, %r121, 16;
or.b32  	%r123, %r122, %r120;
cvt.u32.u16 	%r124, %rs78;
cvt.u32.u16 	%r125, %rs79;
shl.b32 	%r126, %r125, 16;
or.b32  	%r127, %r126, %r124;
cvt.u32.u16 	%r128, %rs80;
cvt.u32.u16 	%r129, %rs81;
shl.b32 	%r130, %r129, 16;
or.b32  	%r131, %r130, %r128;
st.global.v4.u32 	[%rd8], {%r119, %r123, %r127, %r131};
LBB21_78:
ret;
}
)ptx";
constexpr char k_ggml_q5_k[] = R"ptx(.visible .entry ggml_q5_k(
.param .u64 ggml_q5_k_param_0,
.param .u64 ggml_q5_k_param_1,
.param .u64 ggml_q5_k_param_2,
.param .u64 ggml_q5_k_param_3,
.param .u64 ggml_q5_k_param_4,
.param .u64 ggml_q5_k_param_5,
.param .u64 ggml_q5_k_param_6,
.param .u64 ggml_q5_k_param_7,
.param .u64 ggml_q5_k_param_8
)
{
.reg .pred 	%p<37>;
.reg .b16 	%rs<82>;
.reg .b32 	%r<187>;
.reg .f32 	%f<39>;
.reg .b64 	%rd<30>;
ld.param.u64 	%rd9, [ggml_q5_k_param_7];
mov.u32 	%r35, %ctaid.x;
mov.u32 	%r36, %ntid.x;
mul.wide.s32 	%rd13, %r35, %r36;
mov.u32 	%r37, %tid.x;
cvt.s64.s32 	%rd14, %r37;
add.s64 	%rd15, %rd13, %rd14;
shl.b64 	%rd3, %rd15, 3;
setp.ge.u64 	%p1, %rd3, %rd9;
@%p1 bra 	LBB22_78;
ld.param.u64 	%rd10, [ggml_q5_k_param_8];
ld.param.u64 	%rd11, [ggml_q5_k_param_0];
ld.param.u64 	%rd12, [ggml_q5_k_param_3];
cvta.to.global.u64 	%rd2, %rd11;
shr.u64 	%rd16, %rd3, 8;
mul.lo.s64 	%rd17, %rd16, 176;
add.s64 	%rd4, %rd2, %rd17;
cvt.u32.u64 	%r1, %rd3;
bfe.u32 	%r2, %r1, 5, 3;
add.s64 	%rd5, %rd4, 4;
setp.gt.u32 	%p2, %r2, 3;
@%p2 bra 	LBB22_3;
cvt.u64.u32 	%rd22, %r2;
add.s64 	%rd23, %rd5, %rd22;
ld.global.u8 	%rs40, [%rd23];
and.b16  	%rs72, %rs40, 63;
ld.global.u8 	%rs41, [%rd23+4];
and.b16  	%rs73, %rs41, 63;
bra.uni 	LBB22_4;
LBB22_3:
cvt.u64.u32 	%rd18, %r2;
add.s64 	%rd19, %rd5, %rd18;
ld.global.u8 	%rs31, [%rd19+4];
and.b16  	%rs32, %rs31, 15;
add.s32 	%r38, %r2, -4;
cvt.u64.u32 	%rd20, %r38;
add.s64 	%rd21, %rd5, %rd20;
ld.global.u8 	%rs33, [%rd21];
shr.u16 	%rs34, %rs33, 2;
and.b16  	%rs35, %rs34, 48;
or.b16  	%rs72, %rs35, %rs32;
shr.u16 	%rs36, %rs31, 4;
ld.global.u8 	%rs37, [%rd19];
shr.u16 	%rs38, %rs37, 2;
and.b16  	%rs39, %rs38, 48;
or.b16  	%rs73, %rs39, %rs36;
LBB22_4:
cvta.to.global.u64 	%rd1, %rd12;
ld.global.u8 	%rs44, [%rd4];
ld.global.u8 	%rs45, [%rd4+1];
shl.b16 	%rs46, %rs45, 8;
or.b16  	%rs42, %rs46, %rs44;
cvt.f32.f16 %f9, %rs42;
cvt.rn.f32.u16 	%f11, %rs72;
mul.rn.f32 	%f12, %f9, %f11;
ld.global.u8 	%rs47, [%rd4+2];
ld.global.u8 	%rs48, [%rd4+3];
shl.b16 	%rs49, %rs48, 8;
or.b16  	%rs43, %rs49, %rs47;
cvt.f32.f16 %f10, %rs43;
cvt.rn.f32.u16 	%f13, %rs73;
mul.rn.f32 	%f14, %f10, %f13;
shr.u32 	%r39, %r1, 1;
and.b32  	%r40, %r39, 96;
and.b32  	%r41, %r1, 24;
and.b32  	%r42, %r1, 32;
setp.eq.s32 	%p3, %r42, 0;
or.b32  	%r43, %r40, %r41;
cvt.u64.u32 	%rd24, %r43;
add.s64 	%rd25, %rd4, %rd24;
ld.global.u8 	%r44, [%rd25+48];
and.b32  	%r45, %r44, 15;
shr.u32 	%r46, %r44, 4;
selp.b32 	%r47, %r45, %r46, %p3;
cvt.u64.u32 	%rd26, %r41;
add.s64 	%rd27, %rd4, %rd26;
ld.global.u8 	%r48, [%rd27+16];
shr.u32 	%r49, %r48, %r2;
shl.b32 	%r50, %r49, 4;
and.b32  	%r51, %r50, 16;
or.b32  	%r52, %r51, %r47;
cvt.rn.f32.u32 	%f15, %r52;
mul.rn.f32 	%f16, %f12, %f15;
sub.rn.f32 	%f1, %f16, %f14;
ld.global.u8 	%r53, [%rd25+49];
and.b32  	%r54, %r53, 15;
shr.u32 	%r55, %r53, 4;
selp.b32 	%r56, %r54, %r55, %p3;
ld.global.u8 	%r57, [%rd27+17];
shr.u32 	%r58, %r57, %r2;
shl.b32 	%r59, %r58, 4;
and.b32  	%r60, %r59, 16;
or.b32  	%r61, %r60, %r56;
cvt.rn.f32.u32 	%f17, %r61;
mul.rn.f32 	%f18, %f12, %f17;
sub.rn.f32 	%f2, %f18, %f14;
ld.global.u8 	%r62, [%rd25+50];
and.b32  	%r63, %r62, 15;
shr.u32 	%r64, %r62, 4;
selp.b32 	%r65, %r63, %r64, %p3;
ld.global.u8 	%r66, [%rd27+18];
shr.u32 	%r67, %r66, %r2;
shl.b32 	%r68, %r67, 4;
and.b32  	%r69, %r68, 16;
or.b32  	%r70, %r69, %r65;
cvt.rn.f32.u32 	%f19, %r70;
mul.rn.f32 	%f20, %f12, %f19;
sub.rn.f32 	%f3, %f20, %f14;
ld.global.u8 	%r71, [%rd25+51];
and.b32  	%r72, %r71, 15;
shr.u32 	%r73, %r71, 4;
selp.b32 	%r74, %r72, %r73, %p3;
ld.global.u8 	%r75, [%rd27+19];
shr.u32 	%r76, %r75, %r2;
shl.b32 	%r77, %r76, 4;
and.b32  	%r78, %r77, 16;
or.b32  	%r79, %r78, %r74;
cvt.rn.f32.u32 	%f21, %r79;
mul.rn.f32 	%f22, %f12, %f21;
sub.rn.f32 	%f4, %f22, %f14;
ld.global.u8 	%r80, [%rd25+52];
and.b32  	%r81, %r80, 15;
shr.u32 	%r82, %r80, 4;
selp.b32 	%r83, %r81, %r82, %p3;
ld.global.u8 	%r84, [%rd27+20];
shr.u32 	%r85, %r84, %r2;
shl.b32 	%r86, %r85, 4;
and.b32  	%r87, %r86, 16;
or.b32  	%r88, %r87, %r83;
cvt.rn.f32.u32 	%f23, %r88;
mul.rn.f32 	%f24, %f12, %f23;
sub.rn.f32 	%f5, %f24, %f14;
ld.global.u8 	%r89, [%rd25+53];
and.b32  	%r90, %r89, 15;
shr.u32 	%r91, %r89, 4;
selp.b32 	%r92, %r90, %r91, %p3;
ld.global.u8 	%r93, [%rd27+21];
shr.u32 	%r94, %r93, %r2;
shl.b32 	%r95, %r94, 4;
and.b32  	%r96, %r95, 16;
or.b32  	%r97, %r96, %r92;
cvt.rn.f32.u32 	%f25, %r97;
mul.rn.f32 	%f26, %f12, %f25;
sub.rn.f32 	%f6, %f26, %f14;
ld.global.u8 	%r98, [%rd25+54];
and.b32  	%r99, %r98, 15;
shr.u32 	%r100, %r98, 4;
selp.b32 	%r101, %r99, %r100, %p3;
ld.global.u8 	%r102, [%rd27+22];
shr.u32 	%r103, %r102, %r2;
shl.b32 	%r104, %r103, 4;
and.b32  	%r105, %r104, 16;
or.b32  	%r106, %r105, %r101;
cvt.rn.f32.u32 	%f27, %r106;
mul.rn.f32 	%f28, %f12, %f27;
sub.rn.f32 	%f7, %f28, %f14;
ld.global.u8 	%r107, [%rd25+55];
and.b32  	%r108, %r107, 15;
shr.u32 	%r109, %r107, 4;
selp.b32 	%r110, %r108, %r109, %p3;
ld.global.u8 	%r111, [%rd27+23];
shr.u32 	%r112, %r111, %r2;
shl.b32 	%r113, %r112, 4;
and.b32  	%r114, %r113, 16;
or.b32  	%r115, %r114, %r110;
cvt.rn.f32.u32 	%f29, %r115;
mul.rn.f32 	%f30, %f12, %f29;
sub.rn.f32 	%f8, %f30, %f14;
sub.s64 	%rd6, %rd9, %rd3;
setp.ne.s64 	%p4, %rd10, 0;
@%p4 bra 	LBB22_22;
bra.uni 	LBB22_5;
LBB22_22:
setp.eq.s64 	%p5, %rd10, 1;
@%p5 bra 	LBB22_21;
bra.uni 	LBB22_23;
LBB22_21:
cvt.rn.f16.f32 %rs9, %f1;
bra.uni 	LBB22_27;
LBB22_5:
shl.b64 	%rd29, %rd3, 2;
add.s64 	%rd7, %rd1, %rd29;
setp.gt.u64 	%p29, %rd6, 7;
@%p29 bra 	LBB22_20;
setp.eq.s64 	%p30, %rd6, 0;
@%p30 bra 	LBB22_8;
st.global.f32 	[%rd7], %f1;
LBB22_8:
setp.lt.u64 	%p31, %rd6, 2;
@%p31 bra 	LBB22_10;
st.global.f32 	[%rd7+4], %f2;
LBB22_10:
setp.lt.u64 	%p32, %rd6, 3;
@%p32 bra 	LBB22_12;
st.global.f32 	[%rd7+8], %f3;
LBB22_12:
setp.lt.u64 	%p33, %rd6, 4;
@%p33 bra 	LBB22_14;
st.global.f32 	[%rd7+12], %f4;
LBB22_14:
setp.lt.u64 	%p34, %rd6, 5;
@%p34 bra 	LBB22_16;
st.global.f32 	[%rd7+16], %f5;
LBB22_16:
setp.lt.u64 	%p35, %rd6, 6;
@%p35 bra 	LBB22_18;
st.global.f32 	[%rd7+20], %f6;
LBB22_18:
setp.lt.u64 	%p36, %rd6, 7;
@%p36 bra 	LBB22_78;
st.global.f32 	[%rd7+24], %f7;
bra.uni 	LBB22_78;
LBB22_23:
mov.b32 	%r3, %f1;
and.b32  	%r116, %r3, 2147483647;
setp.lt.u32 	%p6, %r116, 2139095041;
@%p6 bra 	LBB22_25;
shr.u32 	%r120, %r3, 16;
or.b32  	%r186, %r120, 64;
bra.uni 	LBB22_26;
LBB22_20:
st.global.v4.f32 	[%rd7], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd7+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB22_78;
LBB22_25:
bfe.u32 	%r117, %r3, 16, 1;
add.s32 	%r118, %r3, %r117;
add.s32 	%r119, %r118, 32767;
shr.u32 	%r186, %r119, 16;
LBB22_26:
cvt.u16.u32 	%rs9, %r186;
LBB22_27:
@%p5 bra 	LBB22_31;
bra.uni 	LBB22_28;
LBB22_31:
cvt.rn.f16.f32 %rs75, %f2;
bra.uni 	LBB22_32;
LBB22_28:
mov.b32 	%r7, %f2;
and.b32  	%r121, %r7, 2147483647;
setp.gt.u32 	%p8, %r121, 2139095040;
@%p8 bra 	LBB22_30;
bra.uni 	LBB22_29;
LBB22_30:
shr.u32 	%r125, %r7, 16;
or.b32  	%r9, %r125, 64;
cvt.u16.u32 	%rs75, %r9;
bra.uni 	LBB22_32;
LBB22_29:
bfe.u32 	%r122, %r7, 16, 1;
add.s32 	%r123, %r7, %r122;
add.s32 	%r124, %r123, 32767;
shr.u32 	%r8, %r124, 16;
cvt.u16.u32 	%rs75, %r8;
LBB22_32:
@%p5 bra 	LBB22_36;
bra.uni 	LBB22_33;
LBB22_36:
cvt.rn.f16.f32 %rs76, %f3;
bra.uni 	LBB22_37;
LBB22_33:
mov.b32 	%r11, %f3;
and.b32  	%r126, %r11, 2147483647;
setp.gt.u32 	%p10, %r126, 2139095040;
@%p10 bra 	LBB22_35;
bra.uni 	LBB22_34;
LBB22_35:
shr.u32 	%r130, %r11, 16;
or.b32  	%r13, %r130, 64;
cvt.u16.u32 	%rs76, %r13;
bra.uni 	LBB22_37;
LBB22_34:
bfe.u32 	%r127, %r11, 16, 1;
add.s32 	%r128, %r11, %r127;
add.s32 	%r129, %r128, 32767;
shr.u32 	%r12, %r129, 16;
cvt.u16.u32 	%rs76, %r12;
LBB22_37:
@%p5 bra 	LBB22_41;
bra.uni 	LBB22_38;
LBB22_41:
cvt.rn.f16.f32 %rs77, %f4;
bra.uni 	LBB22_42;
LBB22_38:
mov.b32 	%r15, %f4;
and.b32  	%r131, %r15, 2147483647;
setp.gt.u32 	%p12, %r131, 2139095040;
@%p12 bra 	LBB22_40;
bra.uni 	LBB22_39;
LBB22_40:
shr.u32 	%r135, %r15, 16;
or.b32  	%r17, %r135, 64;
cvt.u16.u32 	%rs77, %r17;
bra.uni 	LBB22_42;
LBB22_39:
bfe.u32 	%r132, %r15, 16, 1;
add.s32 	%r133, %r15, %r132;
add.s32 	%r134, %r133, 32767;
shr.u32 	%r16, %r134, 16;
cvt.u16.u32 	%rs77, %r16;
LBB22_42:
@%p5 bra 	LBB22_46;
bra.uni 	LBB22_43;
LBB22_46:
cvt.rn.f16.f32 %rs78, %f5;
bra.uni 	LBB22_47;
LBB22_43:
mov.b32 	%r19, %f5;
and.b32  	%r136, %r19, 2147483647;
setp.gt.u32 	%p14, %r136, 2139095040;
@%p14 bra 	LBB22_45;
bra.uni 	LBB22_44;
LBB22_45:
shr.u32 	%r140, %r19, 16;
or.b32  	%r21, %r140, 64;
cvt.u16.u32 	%rs78, %r21;
bra.uni 	LBB22_47;
LBB22_44:
bfe.u32 	%r137, %r19, 16, 1;
add.s32 	%r138, %r19, %r137;
add.s32 	%r139, %r138, 32767;
shr.u32 	%r20, %r139, 16;
cvt.u16.u32 	%rs78, %r20;
LBB22_47:
@%p5 bra 	LBB22_51;
bra.uni 	LBB22_48;
LBB22_51:
cvt.rn.f16.f32 %rs79, %f6;
bra.uni 	LBB22_52;
LBB22_48:
mov.b32 	%r23, %f6;
and.b32  	%r141, %r23, 2147483647;
setp.gt.u32 	%p16, %r141, 2139095040;
@%p16 bra 	LBB22_50;
bra.uni 	LBB22_49;
LBB22_50:
shr.u32 	%r145, %r23, 16;
or.b32  	%r25, %r145, 64;
cvt.u16.u32 	%rs79, %r25;
bra.uni 	LBB22_52;
LBB22_49:
bfe.u32 	%r142, %r23, 16, 1;
add.s32 	%r143, %r23, %r142;
add.s32 	%r144, %r143, 32767;
shr.u32 	%r24, %r144, 16;
cvt.u16.u32 	%rs79, %r24;
LBB22_52:
@%p5 bra 	LBB22_56;
bra.uni 	LBB22_53;
LBB22_56:
cvt.rn.f16.f32 %rs80, %f7;
bra.uni 	LBB22_57;
LBB22_53:
mov.b32 	%r27, %f7;
and.b32  	%r146, %r27, 2147483647;
setp.gt.u32 	%p18, %r146, 2139095040;
@%p18 bra 	LBB22_55;
bra.uni 	LBB22_54;
LBB22_55:
shr.u32 	%r150, %r27, 16;
or.b32  	%r29, %r150, 64;
cvt.u16.u32 	%rs80, %r29;
bra.uni 	LBB22_57;
LBB22_54:
bfe.u32 	%r147, %r27, 16, 1;
add.s32 	%r148, %r27, %r147;
add.s32 	%r149, %r148, 32767;
shr.u32 	%r28, %r149, 16;
cvt.u16.u32 	%rs80, %r28;
LBB22_57:
@%p5 bra 	LBB22_61;
bra.uni 	LBB22_58;
LBB22_61:
cvt.rn.f16.f32 %rs81, %f8;
bra.uni 	LBB22_62;
LBB22_58:
mov.b32 	%r31, %f8;
and.b32  	%r151, %r31, 2147483647;
setp.gt.u32 	%p20, %r151, 2139095040;
@%p20 bra 	LBB22_60;
bra.uni 	LBB22_59;
LBB22_60:
shr.u32 	%r155, %r31, 16;
or.b32  	%r33, %r155, 64;
cvt.u16.u32 	%rs81, %r33;
bra.uni 	LBB22_62;
LBB22_59:
bfe.u32 	%r152, %r31, 16, 1;
add.s32 	%r153, %r31, %r152;
add.s32 	%r154, %r153, 32767;
shr.u32 	%r32, %r154, 16;
cvt.u16.u32 	%rs81, %r32;
LBB22_62:
shl.b64 	%rd28, %rd3, 1;
add.s64 	%rd8, %rd1, %rd28;
setp.lt.u64 	%p21, %rd6, 8;
@%p21 bra 	LBB22_64;
bra.uni 	LBB22_63;
LBB22_64:
setp.eq.s64 	%p22, %rd6, 0;
@%p22 bra 	LBB22_66;
st.global.u16 	[%rd8], %rs9;
LBB22_66:
setp.lt.u64 	%p23, %rd6, 2;
@%p23 bra 	LBB22_68;
st.global.u16 	[%rd8+2], %rs75;
LBB22_68:
setp.lt.u64 	%p24, %rd6, 3;
@%p24 bra 	LBB22_70;
st.global.u16 	[%rd8+4], %rs76;
LBB22_70:
setp.lt.u64 	%p25, %rd6, 4;
@%p25 bra 	LBB22_72;
st.global.u16 	[%rd8+6], %rs77;
LBB22_72:
setp.lt.u64 	%p26, %rd6, 5;
@%p26 bra 	LBB22_74;
st.global.u16 	[%rd8+8], %rs78;
LBB22_74:
setp.lt.u64 	%p27, %rd6, 6;
@%p27 bra 	LBB22_76;
st.global.u16 	[%rd8+10], %rs79;
LBB22_76:
setp.lt.u64 	%p28, %rd6, 7;
@%p28 bra 	LBB22_78;
st.global.u16 	[%rd8+12], %rs80;
bra.uni 	LBB22_78;
LBB22_63:
cvt.u32.u16 	%r156, %rs9;
cvt.u32.u16 	%r157, %rs75;
shl.b32 	%r158, %r157, 16;
or.b32  	%r159, %r158, %r156;
cvt.u32.u16 	%r160, %rs76;
cvt.u32.u16 	%r161, %rs77;
shl.b32 	%r162, %r161, 16;
or.b32  	%r163, %r162, %r160;
cvt.u32.u16 	%r164, %rs78;
cvt.u32.u16 	%r165, %rs79;
shl.b32 	%r166, %r165, 16;
or.b32  	%r167, %r166, %r164;
cvt.u32.u16 	%r168, %rs80;
cvt.u32.u16 	%r169, %rs81;
shl.b32 	%r170, %r169, 16;
or.b32  	%r171, %r170, %r168;
st.global.v4.u32 	[%rd8], {%r159, %r163, %r167, %r171};
LBB22_78:
ret;
}
)ptx";
constexpr char k_ggml_q6_k[] = R"ptx(.visible .entry ggml_q6_k(
.param .u64 ggml_q6_k_param_0,
.param .u64 ggml_q6_k_param_1,
.param .u64 ggml_q6_k_param_2,
.param .u64 ggml_q6_k_param_3,
.param .u64 ggml_q6_k_param_4,
.param .u64 ggml_q6_k_param_5,
.param .u64 ggml_q6_k_param_6,
.param .u64 ggml_q6_k_param_7,
.param .u64 ggml_q6_k_param_8
)
{
.reg .pred 	%p<36>;
.reg .b16 	%rs<60>;
.reg .b32 	%r<233>;
.reg .f32 	%f<28>;
.reg .b64 	%rd<60>;
ld.param.u64 	%rd7, [ggml_q6_k_param_7];
mov.u32 	%r33, %ctaid.x;
mov.u32 	%r34, %ntid.x;
mul.wide.s32 	%rd11, %r33, %r34;
mov.u32 	%r35, %tid.x;
cvt.s64.s32 	%rd12, %r35;
add.s64 	%rd13, %rd11, %rd12;
shl.b64 	%rd3, %rd13, 3;
setp.ge.u64 	%p1, %rd3, %rd7;
@%p1 bra 	LBB23_75;
ld.param.u64 	%rd8, [ggml_q6_k_param_8];
ld.param.u64 	%rd9, [ggml_q6_k_param_0];
ld.param.u64 	%rd10, [ggml_q6_k_param_3];
cvta.to.global.u64 	%rd1, %rd10;
cvta.to.global.u64 	%rd2, %rd9;
shr.u64 	%rd14, %rd3, 8;
mul.lo.s64 	%rd15, %rd14, 210;
add.s64 	%rd16, %rd2, %rd15;
cvt.u32.u64 	%r36, %rd3;
and.b32  	%r37, %r36, 248;
ld.global.u8 	%rs26, [%rd16+208];
ld.global.u8 	%rs27, [%rd16+209];
shl.b16 	%rs28, %rs27, 8;
or.b16  	%rs25, %rs28, %rs26;
cvt.f32.f16 %f9, %rs25;
bfe.u32 	%r38, %r36, 4, 4;
cvt.u64.u32 	%rd17, %r38;
add.s64 	%rd18, %rd16, %rd17;
ld.global.s8 	%rs29, [%rd18+192];
cvt.rn.f32.s16 	%f10, %rs29;
mul.rn.f32 	%f11, %f9, %f10;
add.s64 	%rd19, %rd16, 128;
shr.u64 	%rd20, %rd3, 1;
and.b64  	%rd21, %rd20, 64;
and.b64  	%rd22, %rd3, 24;
and.b64  	%rd23, %rd3, 56;
or.b64  	%rd24, %rd21, %rd23;
add.s64 	%rd25, %rd16, %rd24;
ld.global.u8 	%r39, [%rd25];
and.b32  	%r40, %r36, 64;
setp.eq.s32 	%p2, %r40, 0;
and.b32  	%r41, %r39, 15;
shr.u32 	%r42, %r39, 4;
selp.b32 	%r43, %r41, %r42, %p2;
shr.u64 	%rd26, %rd3, 2;
and.b64  	%rd27, %rd26, 32;
or.b64  	%rd28, %rd27, %rd22;
add.s64 	%rd29, %rd19, %rd28;
ld.global.u8 	%r44, [%rd29];
and.b32  	%r45, %r38, 6;
shr.u32 	%r46, %r44, %r45;
shl.b32 	%r47, %r46, 4;
and.b32  	%r48, %r47, 48;
or.b32  	%r49, %r48, %r43;
add.s32 	%r50, %r49, -32;
cvt.rn.f32.s32 	%f12, %r50;
mul.rn.f32 	%f1, %f11, %f12;
or.b32  	%r51, %r37, 1;
shr.u32 	%r52, %r36, 1;
and.b32  	%r53, %r52, 64;
and.b32  	%r54, %r51, 25;
and.b32  	%r55, %r51, 57;
or.b32  	%r56, %r55, %r53;
cvt.u64.u32 	%rd30, %r56;
add.s64 	%rd31, %rd16, %rd30;
ld.global.u8 	%r57, [%rd31];
and.b32  	%r58, %r57, 15;
shr.u32 	%r59, %r57, 4;
selp.b32 	%r60, %r58, %r59, %p2;
shr.u32 	%r61, %r36, 2;
and.b32  	%r62, %r61, 32;
or.b32  	%r63, %r54, %r62;
cvt.u64.u32 	%rd32, %r63;
add.s64 	%rd33, %rd19, %rd32;
ld.global.u8 	%r64, [%rd33];
shr.u32 	%r65, %r36, 4;
and.b32  	%r66, %r65, 6;
shr.u32 	%r67, %r64, %r66;
shl.b32 	%r68, %r67, 4;
and.b32  	%r69, %r68, 48;
or.b32  	%r70, %r69, %r60;
add.s32 	%r71, %r70, -32;
cvt.rn.f32.s32 	%f13, %r71;
mul.rn.f32 	%f2, %f11, %f13;
or.b32  	%r72, %r37, 2;
and.b32  	%r73, %r72, 26;
and.b32  	%r74, %r72, 58;
or.b32  	%r75, %r74, %r53;
cvt.u64.u32 	%rd34, %r75;
add.s64 	%rd35, %rd16, %rd34;
ld.global.u8 	%r76, [%rd35];
and.b32  	%r77, %r76, 15;
shr.u32 	%r78, %r76, 4;
selp.b32 	%r79, %r77, %r78, %p2;
or.b32  	%r80, %r73, %r62;
cvt.u64.u32 	%rd36, %r80;
add.s64 	%rd37, %rd19, %rd36;
ld.global.u8 	%r81, [%rd37];
shr.u32 	%r82, %r81, %r66;
shl.b32 	%r83, %r82, 4;
and.b32  	%r84, %r83, 48;
or.b32  	%r85, %r84, %r79;
add.s32 	%r86, %r85, -32;
cvt.rn.f32.s32 	%f14, %r86;
mul.rn.f32 	%f3, %f11, %f14;
or.b32  	%r87, %r37, 3;
and.b32  	%r88, %r87, 27;
and.b32  	%r89, %r87, 59;
or.b32  	%r90, %r89, %r53;
cvt.u64.u32 	%rd38, %r90;
add.s64 	%rd39, %rd16, %rd38;
ld.global.u8 	%r91, [%rd39];
and.b32  	%r92, %r91, 15;
shr.u32 	%r93, %r91, 4;
selp.b32 	%r94, %r92, %r93, %p2;
or.b32  	%r95, %r88, %r62;
cvt.u64.u32 	%rd40, %r95;
add.s64 	%rd41, %rd19, %rd40;
ld.global.u8 	%r96, [%rd41];
shr.u32 	%r97, %r96, %r66;
shl.b32 	%r98, %r97, 4;
and.b32  	%r99, %r98, 48;
or.b32  	%r100, %r99, %r94;
add.s32 	%r101, %r100, -32;
cvt.rn.f32.s32 	%f15, %r101;
mul.rn.f32 	%f4, %f11, %f15;
or.b32  	%r102, %r37, 4;
and.b32  	%r103, %r102, 28;
and.b32  	%r104, %r102, 60;
or.b32  	%r105, %r104, %r53;
cvt.u64.u32 	%rd42, %r105;
add.s64 	%rd43, %rd16, %rd42;
ld.global.u8 	%r106, [%rd43];
and.b32  	%r107, %r106, 15;
shr.u32 	%r108, %r106, 4;
selp.b32 	%r109, %r107, %r108, %p2;
or.b32  	%r110, %r103, %r62;
cvt.u64.u32 	%rd44, %r110;
add.s64 	%rd45, %rd19, %rd44;
ld.global.u8 	%r111, [%rd45];
shr.u32 	%r112, %r111, %r66;
shl.b32 	%r113, %r112, 4;
and.b32  	%r114, %r113, 48;
or.b32  	%r115, %r114, %r109;
add.s32 	%r116, %r115, -32;
cvt.rn.f32.s32 	%f16, %r116;
mul.rn.f32 	%f5, %f11, %f16;
or.b32  	%r117, %r37, 5;
and.b32  	%r118, %r117, 29;
and.b32  	%r119, %r117, 61;
or.b32  	%r120, %r119, %r53;
cvt.u64.u32 	%rd46, %r120;
add.s64 	%rd47, %rd16, %rd46;
ld.global.u8 	%r121, [%rd47];
and.b32  	%r122, %r121, 15;
shr.u32 	%r123, %r121, 4;
selp.b32 	%r124, %r122, %r123, %p2;
or.b32  	%r125, %r118, %r62;
cvt.u64.u32 	%rd48, %r125;
add.s64 	%rd49, %rd19, %rd48;
ld.global.u8 	%r126, [%rd49];
shr.u32 	%r127, %r126, %r66;
shl.b32 	%r128, %r127, 4;
and.b32  	%r129, %r128, 48;
or.b32  	%r130, %r129, %r124;
add.s32 	%r131, %r130, -32;
cvt.rn.f32.s32 	%f17, %r131;
mul.rn.f32 	%f6, %f11, %f17;
or.b32  	%r132, %r37, 6;
and.b32  	%r133, %r132, 30;
and.b32  	%r134, %r132, 62;
or.b32  	%r135, %r134, %r53;
cvt.u64.u32 	%rd50, %r135;
add.s64 	%rd51, %rd16, %rd50;
ld.global.u8 	%r136, [%rd51];
and.b32  	%r137, %r136, 15;
shr.u32 	%r138, %r136, 4;
selp.b32 	%r139, %r137, %r138, %p2;
or.b32  	%r140, %r133, %r62;
cvt.u64.u32 	%rd52, %r140;
add.s64 	%rd53, %rd19, %rd52;
ld.global.u8 	%r141, [%rd53];
shr.u32 	%r142, %r141, %r66;
shl.b32 	%r143, %r142, 4;
and.b32  	%r144, %r143, 48;
or.b32  	%r145, %r144, %r139;
add.s32 	%r146, %r145, -32;
cvt.rn.f32.s32 	%f18, %r146;
mul.rn.f32 	%f7, %f11, %f18;
or.b32  	%r147, %r37, 7;
and.b32  	%r148, %r147, 31;
and.b32  	%r149, %r147, 63;
or.b32  	%r150, %r149, %r53;
cvt.u64.u32 	%rd54, %r150;
add.s64 	%rd55, %rd16, %rd54;
ld.global.u8 	%r151, [%rd55];
and.b32  	%r152, %r151, 15;
shr.u32 	%r153, %r151, 4;
selp.b32 	%r154, %r152, %r153, %p2;
or.b32  	%r155, %r148, %r62;
cvt.u64.u32 	%rd56, %r155;
add.s64 	%rd57, %rd19, %rd56;
ld.global.u8 	%r156, [%rd57];
shr.u32 	%r157, %r156, %r66;
shl.b32 	%r158, %r157, 4;
and.b32  	%r159, %r158, 48;
or.b32  	%r160, %r159, %r154;
add.s32 	%r161, %r160, -32;
cvt.rn.f32.s32 	%f19, %r161;
mul.rn.f32 	%f8, %f11, %f19;
sub.s64 	%rd4, %rd7, %rd3;
setp.ne.s64 	%p3, %rd8, 0;
@%p3 bra 	LBB23_19;
bra.uni 	LBB23_2;
LBB23_19:
setp.eq.s64 	%p4, %rd8, 1;
@%p4 bra 	LBB23_18;
bra.uni 	LBB23_20;
LBB23_18:
cvt.rn.f16.f32 %rs3, %f1;
bra.uni 	LBB23_24;
LBB23_2:
shl.b64 	%rd59, %rd3, 2;
add.s64 	%rd5, %rd1, %rd59;
setp.gt.u64 	%p28, %rd4, 7;
@%p28 bra 	LBB23_17;
setp.eq.s64 	%p29, %rd4, 0;
@%p29 bra 	LBB23_5;
st.global.f32 	[%rd5], %f1;
LBB23_5:
setp.lt.u64 	%p30, %rd4, 2;
@%p30 bra 	LBB23_7;
st.global.f32 	[%rd5+4], %f2;
LBB23_7:
setp.lt.u64 	%p31, %rd4, 3;
@%p31 bra 	LBB23_9;
st.global.f32 	[%rd5+8], %f3;
LBB23_9:
setp.lt.u64 	%p32, %rd4, 4;
@%p32 bra 	LBB23_11;
st.global.f32 	[%rd5+12], %f4;
LBB23_11:
setp.lt.u64 	%p33, %rd4, 5;
@%p33 bra 	LBB23_13;
st.global.f32 	[%rd5+16], %f5;
LBB23_13:
setp.lt.u64 	%p34, %rd4, 6;
@%p34 bra 	LBB23_15;
st.global.f32 	[%rd5+20], %f6;
LBB23_15:
setp.lt.u64 	%p35, %rd4, 7;
@%p35 bra 	LBB23_75;
st.global.f32 	[%rd5+24], %f7;
bra.uni 	LBB23_75;
LBB23_20:
mov.b32 	%r1, %f1;
and.b32  	%r162, %r1, 2147483647;
setp.lt.u32 	%p5, %r162, 2139095041;
@%p5 bra 	LBB23_22;
shr.u32 	%r166, %r1, 16;
or.b32  	%r232, %r166, 64;
bra.uni 	LBB23_23;
LBB23_17:
st.global.v4.f32 	[%rd5], {%f1, %f2, %f3, %f4};
st.global.v4.f32 	[%rd5+16], {%f5, %f6, %f7, %f8};
bra.uni 	LBB23_75;
LBB23_22:
bfe.u32 	%r163, %r1, 16, 1;
add.s32 	%r164, %r1, %r163;
add.s32 	%r165, %r164, 32767;
shr.u32 	%r232, %r165, 16;
LBB23_23:
cvt.u16.u32 	%rs3, %r232;
LBB23_24:
@%p4 bra 	LBB23_28;
bra.uni 	LBB23_25;
LBB23_28:
cvt.rn.f16.f32 %rs53, %f2;
bra.uni 	LBB23_29;
LBB23_25:
mov.b32 	%r5, %f2;
and.b32  	%r167, %r5, 2147483647;
setp.gt.u32 	%p7, %r167, 2139095040;
@%p7 bra 	LBB23_27;
bra.uni 	LBB23_26;
LBB23_27:
shr.u32 	%r171, %r5, 16;
or.b32  	%r7, %r171, 64;
cvt.u16.u32 	%rs53, %r7;
bra.uni 	LBB23_29;
LBB23_26:
bfe.u32 	%r168, %r5, 16, 1;
add.s32 	%r169, %r5, %r168;
add.s32 	%r170, %r169, 32767;
shr.u32 	%r6, %r170, 16;
cvt.u16.u32 	%rs53, %r6;
LBB23_29:
@%p4 bra 	LBB23_33;
bra.uni 	LBB23_30;
LBB23_33:
cvt.rn.f16.f32 %rs54, %f3;
bra.uni 	LBB23_34;
LBB23_30:
mov.b32 	%r9, %f3;
and.b32  	%r172, %r9, 2147483647;
setp.gt.u32 	%p9, %r172, 2139095040;
@%p9 bra 	LBB23_32;
bra.uni 	LBB23_31;
LBB23_32:
shr.u32 	%r176, %r9, 16;
or.b32  	%r11, %r176, 64;
cvt.u16.u32 	%rs54, %r11;
bra.uni 	LBB23_34;
LBB23_31:
bfe.u32 	%r173, %r9, 16, 1;
add.s32 	%r174, %r9, %r173;
add.s32 	%r175, %r174, 32767;
shr.u32 	%r10, %r175, 16;
cvt.u16.u32 	%rs54, %r10;
LBB23_34:
@%p4 bra 	LBB23_38;
bra.uni 	LBB23_35;
LBB23_38:
cvt.rn.f16.f32 %rs55, %f4;
bra.uni 	LBB23_39;
LBB23_35:
mov.b32 	%r13, %f4;
and.b32  	%r177, %r13, 2147483647;
setp.gt.u32 	%p11, %r177, 2139095040;
@%p11 bra 	LBB23_37;
bra.uni 	LBB23_36;
LBB23_37:
shr.u32 	%r181, %r13, 16;
or.b32  	%r15, %r181, 64;
cvt.u16.u32 	%rs55, %r15;
bra.uni 	LBB23_39;
LBB23_36:
bfe.u32 	%r178, %r13, 16, 1;
add.s32 	%r179, %r13, %r178;
add.s32 	%r180, %r179, 32767;
shr.u32 	%r14, %r180, 16;
cvt.u16.u32 	%rs55, %r14;
LBB23_39:
@%p4 bra 	LBB23_43;
bra.uni 	LBB23_40;
LBB23_43:
cvt.rn.f16.f32 %rs56, %f5;
bra.uni 	LBB23_44;
LBB23_40:
mov.b32 	%r17, %f5;
and.b32  	%r182, %r17, 2147483647;
setp.gt.u32 	%p13, %r182, 2139095040;
@%p13 bra 	LBB23_42;
bra.uni 	LBB23_41;
LBB23_42:
shr.u32 	%r186, %r17, 16;
or.b32  	%r19, %r186, 64;
cvt.u16.u32 	%rs56, %r19;
bra.uni 	LBB23_44;
LBB23_41:
bfe.u32 	%r183, %r17, 16, 1;
add.s32 	%r184, %r17, %r183;
add.s32 	%r185, %r184, 32767;
shr.u32 	%r18, %r185, 16;
cvt.u16.u32 	%rs56, %r18;
LBB23_44:
@%p4 bra 	LBB23_48;
bra.uni 	LBB23_45;
LBB23_48:
cvt.rn.f16.f32 %rs57, %f6;
bra.uni 	LBB23_49;
LBB23_45:
mov.b32 	%r21, %f6;
and.b32  	%r187, %r21, 2147483647;
setp.gt.u32 	%p15, %r187, 2139095040;
@%p15 bra 	LBB23_47;
bra.uni 	LBB23_46;
LBB23_47:
shr.u32 	%r191, %r21, 16;
or.b32  	%r23, %r191, 64;
cvt.u16.u32 	%rs57, %r23;
bra.uni 	LBB23_49;
LBB23_46:
bfe.u32 	%r188, %r21, 16, 1;
add.s32 	%r189, %r21, %r188;
add.s32 	%r190, %r189, 32767;
shr.u32 	%r22, %r190, 16;
cvt.u16.u32 	%rs57, %r22;
LBB23_49:
@%p4 bra 	LBB23_53;
bra.uni 	LBB23_50;
LBB23_53:
cvt.rn.f16.f32 %rs58, %f7;
bra.uni 	LBB23_54;
LBB23_50:
mov.b32 	%r25, %f7;
and.b32  	%r192, %r25, 2147483647;
setp.gt.u32 	%p17, %r192, 2139095040;
@%p17 bra 	LBB23_52;
bra.uni 	LBB23_51;
LBB23_52:
shr.u32 	%r196, %r25, 16;
or.b32  	%r27, %r196, 64;
cvt.u16.u32 	%rs58, %r27;
bra.uni 	LBB23_54;
LBB23_51:
bfe.u32 	%r193, %r25, 16, 1;
add.s32 	%r194, %r25, %r193;
add.s32 	%r195, %r194, 32767;
shr.u32 	%r26, %r195, 16;
cvt.u16.u32 	%rs58, %r26;
LBB23_54:
@%p4 bra 	LBB23_58;
bra.uni 	LBB23_55;
LBB23_58:
cvt.rn.f16.f32 %rs59, %f8;
bra.uni 	LBB23_59;
LBB23_55:
mov.b32 	%r29, %f8;
and.b32  	%r197, %r29, 2147483647;
setp.gt.u32 	%p19, %r197, 2139095040;
@%p19 bra 	LBB23_57;
bra.uni 	LBB23_56;
LBB23_57:
shr.u32 	%r201, %r29, 16;
or.b32  	%r31, %r201, 64;
cvt.u16.u32 	%rs59, %r31;
bra.uni 	LBB23_59;
LBB23_56:
bfe.u32 	%r198, %r29, 16, 1;
add.s32 	%r199, %r29, %r198;
add.s32 	%r200, %r199, 32767;
shr.u32 	%r30, %r200, 16;
cvt.u16.u32 	%rs59, %r30;
LBB23_59:
shl.b64 	%rd58, %rd3, 1;
add.s64 	%rd6, %rd1, %rd58;
setp.lt.u64 	%p20, %rd4, 8;
@%p20 bra 	LBB23_61;
bra.uni 	LBB23_60;
LBB23_61:
setp.eq.s64 	%p21, %rd4, 0;
@%p21 bra 	LBB23_63;
st.global.u16 	[%rd6], %rs3;
LBB23_63:
setp.lt.u64 	%p22, %rd4, 2;
@%p22 bra 	LBB23_65;
st.global.u16 	[%rd6+2], %rs53;
LBB23_65:
setp.lt.u64 	%p23, %rd4, 3;
@%p23 bra 	LBB23_67;
st.global.u16 	[%rd6+4], %rs54;
LBB23_67:
setp.lt.u64 	%p24, %rd4, 4;
@%p24 bra 	LBB23_69;
st.global.u16 	[%rd6+6], %rs55;
LBB23_69:
setp.lt.u64 	%p25, %rd4, 5;
@%p25 bra 	LBB23_71;
st.global.u16 	[%rd6+8], %rs56;
LBB23_71:
setp.lt.u64 	%p26, %rd4, 6;
@%p26 bra 	LBB23_73;
st.global.u16 	[%rd6+10], %rs57;
LBB23_73:
setp.lt.u64 	%p27, %rd4, 7;
@%p27 bra 	LBB23_75;
st.global.u16 	[%rd6+12], %rs58;
bra.uni 	LBB23_75;
LBB23_60:
cvt.u32.u16 	%r202, %rs3;
cvt.u32.u16 	%r203, %rs53;
shl.b32 	%r204, %r203, 16;
or.b32  	%r205, %r204, %r202;
cvt.u32.u16 	%r206, %rs54;
cvt.u32.u16 	%r207, %rs55;
shl.b32 	%r208, %r207, 16;
or.b32  	%r209, %r208, %r206;
cvt.u32.u16 	%r210, %rs56;
cvt.u32.u16 	%r211, %rs57;
shl.b32 	%r212, %r211, 16;
or.b32  	%r213, %r212, %r210;
cvt.u32.u16 	%r214, %rs58;
cvt.u32.u16 	%r215, %rs59;
shl.b32 	%r216, %r215, 16;
or.b32  	%r217, %r216, %r214;
st.global.v4.u32 	[%rd6], {%r205, %r209, %r213, %r217};
LBB23_75:
ret;
}
)ptx";
constexpr char k_xxh3_sums[] = R"ptx(.visible .entry xxh3_sums(
.param .u64 xxh3_sums_param_0,
.param .u64 xxh3_sums_param_1,
.param .u64 xxh3_sums_param_2,
.param .u64 xxh3_sums_param_3,
.param .u64 xxh3_sums_param_4,
.param .u64 xxh3_sums_param_5,
.param .u64 xxh3_sums_param_6,
.param .u64 xxh3_sums_param_7,
.param .u64 xxh3_sums_param_8
)
{
.reg .pred 	%p<5>;
.reg .b32 	%r<30>;
.reg .b64 	%rd<144>;
mov.u32 	%r3, %ctaid.x;
mov.u32 	%r4, %ntid.x;
mul.wide.s32 	%rd34, %r3, %r4;
ld.param.u64 	%rd35, [xxh3_sums_param_7];
mov.u32 	%r5, %tid.x;
cvt.s64.s32 	%rd36, %r5;
add.s64 	%rd3, %rd34, %rd36;
setp.ge.u64 	%p1, %rd3, %rd35;
@%p1 bra 	LBB24_8;
ld.param.u64 	%rd32, [xxh3_sums_param_0];
ld.param.u64 	%rd33, [xxh3_sums_param_3];
cvta.to.global.u64 	%rd1, %rd33;
cvta.to.global.u64 	%rd2, %rd32;
shr.u64 	%rd4, %rd3, 2;
cvt.u32.u64 	%r1, %rd3;
shl.b32 	%r6, %r1, 1;
and.b32  	%r2, %r6, 6;
shl.b64 	%rd5, %rd4, 10;
add.s64 	%rd37, %rd2, %rd5;
shl.b32 	%r7, %r2, 3;
cvt.u64.u32 	%rd6, %r7;
add.s64 	%rd38, %rd37, %rd6;
cvta.global.u64 	%rd39, %rd38;
and.b64  	%rd40, %rd39, 7;
setp.eq.s64 	%p2, %rd40, 0;
@%p2 bra 	LBB24_5;
add.s64 	%rd42, %rd5, %rd6;
add.s64 	%rd43, %rd42, %rd2;
add.s64 	%rd137, %rd43, 7;
and.b32  	%r8, %r1, 3;
mul.wide.u32 	%rd44, %r8, 2;
shl.b64 	%rd45, %rd44, 3;
mov.u64 	%rd46, _ZL7kSecret;
add.s64 	%rd8, %rd46, %rd45;
mov.u64 	%rd138, 0;
mov.u64 	%rd142, %rd138;
mov.u64 	%rd143, %rd138;
LBB24_3:
ld.global.u8 	%rd49, [%rd137+-7];
ld.global.u8 	%r13, [%rd137+-6];
mul.wide.u32 	%rd50, %r13, 256;
or.b64  	%rd51, %rd50, %rd49;
ld.global.u8 	%r14, [%rd137+-5];
mul.wide.u32 	%rd52, %r14, 65536;
or.b64  	%rd53, %rd51, %rd52;
ld.global.u8 	%r15, [%rd137+-4];
mul.wide.u32 	%rd54, %r15, 16777216;
or.b64  	%rd55, %rd53, %rd54;
ld.global.u8 	%rd56, [%rd137+-3];
shl.b64 	%rd57, %rd56, 32;
or.b64  	%rd58, %rd55, %rd57;
ld.global.u8 	%rd59, [%rd137+-2];
shl.b64 	%rd60, %rd59, 40;
or.b64  	%rd61, %rd58, %rd60;
ld.global.u8 	%rd62, [%rd137+-1];
shl.b64 	%rd63, %rd62, 48;
or.b64  	%rd64, %rd61, %rd63;
ld.global.u8 	%rd65, [%rd137];
shl.b64 	%rd66, %rd65, 56;
or.b64  	%rd67, %rd64, %rd66;
ld.global.u8 	%rd68, [%rd137+1];
ld.global.u8 	%r16, [%rd137+2];
mul.wide.u32 	%rd69, %r16, 256;
or.b64  	%rd70, %rd69, %rd68;
ld.global.u8 	%r17, [%rd137+3];
mul.wide.u32 	%rd71, %r17, 65536;
or.b64  	%rd72, %rd70, %rd71;
ld.global.u8 	%r18, [%rd137+4];
mul.wide.u32 	%rd73, %r18, 16777216;
or.b64  	%rd74, %rd72, %rd73;
ld.global.u8 	%rd75, [%rd137+5];
shl.b64 	%rd76, %rd75, 32;
or.b64  	%rd77, %rd74, %rd76;
ld.global.u8 	%rd78, [%rd137+6];
shl.b64 	%rd79, %rd78, 40;
or.b64  	%rd80, %rd77, %rd79;
ld.global.u8 	%rd81, [%rd137+7];
shl.b64 	%rd82, %rd81, 48;
or.b64  	%rd83, %rd80, %rd82;
ld.global.u8 	%rd84, [%rd137+8];
shl.b64 	%rd85, %rd84, 56;
or.b64  	%rd86, %rd83, %rd85;
add.s64 	%rd87, %rd8, %rd138;
ld.const.u64 	%rd88, [%rd87];
xor.b64  	%rd89, %rd88, %rd67;
cvt.u32.u64 	%r9, %rd89;
shr.u64 	%rd90, %rd89, 32;
cvt.u32.u64 	%r10, %rd90;
mul.wide.u32 %rd47, %r9, %r10;
add.s64 	%rd91, %rd47, %rd142;
add.s64 	%rd142, %rd91, %rd86;
ld.const.u64 	%rd92, [%rd87+8];
xor.b64  	%rd93, %rd92, %rd86;
cvt.u32.u64 	%r11, %rd93;
shr.u64 	%rd94, %rd93, 32;
cvt.u32.u64 	%r12, %rd94;
mul.wide.u32 %rd48, %r11, %r12;
add.s64 	%rd95, %rd67, %rd143;
add.s64 	%rd143, %rd95, %rd48;
add.s64 	%rd138, %rd138, 8;
cvt.u32.u64 	%r19, %rd138;
add.s64 	%rd137, %rd137, 64;
setp.ne.s32 	%p3, %r19, 128;
@%p3 bra 	LBB24_3;
cvt.u64.u32 	%rd141, %r2;
bra.uni 	LBB24_7;
LBB24_5:
and.b32  	%r20, %r1, 3;
mul.wide.u32 	%rd97, %r20, 2;
shl.b64 	%rd98, %rd97, 3;
mov.u64 	%rd99, _ZL7kSecret;
add.s64 	%rd100, %rd98, %rd99;
add.s64 	%rd9, %rd100, 16;
add.s64 	%rd101, %rd5, %rd6;
add.s64 	%rd102, %rd101, %rd2;
add.s64 	%rd133, %rd102, 64;
mov.u64 	%rd134, 0;
mov.u64 	%rd142, %rd134;
mov.u64 	%rd143, %rd134;
LBB24_6:
ld.global.u64 	%rd107, [%rd133+-64];
ld.global.u64 	%rd108, [%rd133+-56];
add.s64 	%rd109, %rd9, %rd134;
ld.const.u64 	%rd110, [%rd109+-16];
xor.b64  	%rd111, %rd110, %rd107;
cvt.u32.u64 	%r21, %rd111;
shr.u64 	%rd112, %rd111, 32;
cvt.u32.u64 	%r22, %rd112;
mul.wide.u32 %rd103, %r21, %r22;
add.s64 	%rd113, %rd108, %rd142;
add.s64 	%rd114, %rd113, %rd103;
ld.const.u64 	%rd115, [%rd109+-8];
xor.b64  	%rd116, %rd115, %rd108;
cvt.u32.u64 	%r23, %rd116;
shr.u64 	%rd117, %rd116, 32;
cvt.u32.u64 	%r24, %rd117;
mul.wide.u32 %rd104, %r23, %r24;
add.s64 	%rd118, %rd107, %rd143;
add.s64 	%rd119, %rd118, %rd104;
ld.global.u64 	%rd120, [%rd133];
ld.global.u64 	%rd121, [%rd133+8];
xor.b64  	%rd122, %rd115, %rd120;
cvt.u32.u64 	%r25, %rd122;
shr.u64 	%rd123, %rd122, 32;
cvt.u32.u64 	%r26, %rd123;
mul.wide.u32 %rd105, %r25, %r26;
add.s64 	%rd124, %rd121, %rd114;
add.s64 	%rd142, %rd124, %rd105;
cvt.u64.u32 	%rd141, %r2;
ld.const.u64 	%rd125, [%rd109];
xor.b64  	%rd126, %rd125, %rd121;
cvt.u32.u64 	%r27, %rd126;
shr.u64 	%rd127, %rd126, 32;
cvt.u32.u64 	%r28, %rd127;
mul.wide.u32 %rd106, %r27, %r28;
add.s64 	%rd128, %rd120, %rd119;
add.s64 	%rd143, %rd128, %rd106;
add.s64 	%rd134, %rd134, 16;
add.s64 	%rd133, %rd133, 128;
cvt.u32.u64 	%r29, %rd134;
setp.eq.s32 	%p4, %r29, 128;
@%p4 bra 	LBB24_7;
bra.uni 	LBB24_6;
LBB24_7:
shl.b64 	%rd129, %rd4, 6;
add.s64 	%rd130, %rd1, %rd129;
shl.b64 	%rd131, %rd141, 3;
add.s64 	%rd132, %rd130, %rd131;
st.global.u64 	[%rd132], %rd142;
st.global.u64 	[%rd132+8], %rd143;
LBB24_8:
ret;
}
)ptx";
constexpr char k_xxh3_chain[] = R"ptx(.visible .entry xxh3_chain(
.param .u64 xxh3_chain_param_0,
.param .u64 xxh3_chain_param_1,
.param .u64 xxh3_chain_param_2,
.param .u64 xxh3_chain_param_3,
.param .u64 xxh3_chain_param_4,
.param .u64 xxh3_chain_param_5,
.param .u64 xxh3_chain_param_6,
.param .u64 xxh3_chain_param_7,
.param .u64 xxh3_chain_param_8
)
{
.local .align 8 .b8 	__local_depot25[256];
.reg .b64 	%SP;
.reg .b64 	%SPL;
.reg .pred 	%p<17>;
.reg .b32 	%r<17>;
.reg .b64 	%rd<272>;
mov.u64 	%SPL, __local_depot25;
mov.u32 	%r2, %ctaid.x;
ld.param.u64 	%rd82, [xxh3_chain_param_7];
mov.u32 	%r3, %ntid.x;
mul.wide.s32 	%rd83, %r2, %r3;
mov.u32 	%r4, %tid.x;
cvt.s64.s32 	%rd84, %r4;
add.s64 	%rd5, %rd83, %rd84;
setp.ge.u64 	%p1, %rd5, %rd82;
@%p1 bra 	LBB25_26;
ld.param.u64 	%rd76, [xxh3_chain_param_5];
ld.param.u64 	%rd75, [xxh3_chain_param_4];
ld.param.u64 	%rd78, [xxh3_chain_param_0];
ld.param.u64 	%rd79, [xxh3_chain_param_3];
cvta.to.global.u64 	%rd1, %rd79;
cvta.to.global.u64 	%rd3, %rd78;
setp.eq.s64 	%p2, %rd75, 0;
and.b64  	%rd6, %rd5, 4294967295;
shl.b64 	%rd86, %rd6, 3;
add.s64 	%rd7, %rd1, %rd86;
cvta.global.u64 	%rd87, %rd7;
mov.u64 	%rd88, _ZL6kStart;
add.s64 	%rd89, %rd88, %rd86;
cvta.const.u64 	%rd90, %rd89;
selp.b64 	%rd91, %rd90, %rd87, %p2;
ld.u64 	%rd260, [%rd91];
add.s64 	%rd92, %rd5, 16;
and.b64  	%rd93, %rd92, 4294967295;
shl.b64 	%rd94, %rd93, 3;
mov.u64 	%rd95, _ZL7kSecret;
add.s64 	%rd96, %rd95, %rd94;
ld.const.u64 	%rd9, [%rd96];
setp.lt.u64 	%p3, %rd76, 32;
mov.u64 	%rd252, 0;
@%p3 bra 	LBB25_6;
bra.uni 	LBB25_2;
LBB25_6:
ld.param.u64 	%rd77, [xxh3_chain_param_6];
setp.ge.u64 	%p6, %rd252, %rd76;
@%p6 bra 	LBB25_13;
not.b64 	%rd156, %rd252;
add.s64 	%rd13, %rd156, %rd76;
and.b64  	%rd247, %rd76, 3;
setp.eq.s64 	%p7, %rd247, 0;
@%p7 bra 	LBB25_10;
shl.b64 	%rd157, %rd252, 6;
add.s64 	%rd159, %rd157, %rd86;
add.s64 	%rd248, %rd3, %rd159;
LBB25_9:
.pragma "nounroll";
ld.global.u64 	%rd160, [%rd248];
add.s64 	%rd161, %rd160, %rd260;
shr.u64 	%rd162, %rd161, 47;
xor.b64  	%rd163, %rd161, %rd9;
xor.b64  	%rd164, %rd163, %rd162;
mul.lo.s64 	%rd260, %rd164, 2654435761;
add.s64 	%rd252, %rd252, 1;
add.s64 	%rd248, %rd248, 64;
add.s64 	%rd247, %rd247, -1;
setp.ne.s64 	%p8, %rd247, 0;
@%p8 bra 	LBB25_9;
LBB25_10:
setp.lt.u64 	%p9, %rd13, 3;
@%p9 bra 	LBB25_13;
shl.b64 	%rd165, %rd252, 6;
add.s64 	%rd167, %rd165, %rd86;
add.s64 	%rd168, %rd167, %rd3;
add.s64 	%rd261, %rd168, 128;
LBB25_12:
ld.global.u64 	%rd169, [%rd261+-128];
add.s64 	%rd170, %rd169, %rd260;
shr.u64 	%rd171, %rd170, 47;
xor.b64  	%rd172, %rd170, %rd9;
xor.b64  	%rd173, %rd172, %rd171;
mul.lo.s64 	%rd174, %rd173, 2654435761;
ld.global.u64 	%rd175, [%rd261+-64];
add.s64 	%rd176, %rd175, %rd174;
shr.u64 	%rd177, %rd176, 47;
xor.b64  	%rd178, %rd176, %rd9;
xor.b64  	%rd179, %rd178, %rd177;
mul.lo.s64 	%rd180, %rd179, 2654435761;
ld.global.u64 	%rd181, [%rd261];
add.s64 	%rd182, %rd181, %rd180;
shr.u64 	%rd183, %rd182, 47;
xor.b64  	%rd184, %rd182, %rd9;
xor.b64  	%rd185, %rd184, %rd183;
mul.lo.s64 	%rd186, %rd185, 2654435761;
ld.global.u64 	%rd187, [%rd261+64];
add.s64 	%rd188, %rd187, %rd186;
shr.u64 	%rd189, %rd188, 47;
xor.b64  	%rd190, %rd188, %rd9;
xor.b64  	%rd191, %rd190, %rd189;
mul.lo.s64 	%rd260, %rd191, 2654435761;
add.s64 	%rd252, %rd252, 4;
add.s64 	%rd261, %rd261, 256;
setp.lt.u64 	%p10, %rd252, %rd76;
@%p10 bra 	LBB25_12;
LBB25_13:
setp.eq.s64 	%p11, %rd77, 0;
@%p11 bra 	LBB25_25;
ld.param.u64 	%rd80, [xxh3_chain_param_1];
cvta.to.global.u64 	%rd265, %rd80;
cvt.u32.u64 	%r1, %rd5;
add.s64 	%rd192, %rd77, -1;
shr.u64 	%rd41, %rd192, 6;
add.s64 	%rd194, %rd265, %rd77;
add.s64 	%rd42, %rd194, -64;
shl.b32 	%r6, %r1, 3;
cvt.u64.u32 	%rd43, %r6;
shl.b64 	%rd195, %rd5, 3;
and.b64  	%rd196, %rd195, 4294967288;
xor.b64  	%rd44, %rd196, 8;
add.s32 	%r7, %r6, 121;
and.b32  	%r8, %r7, -8;
cvt.u64.u32 	%rd197, %r8;
add.s64 	%rd45, %rd95, %rd197;
add.s64 	%rd266, %rd95, %rd86;
mov.u64 	%rd268, 0;
bra.uni 	LBB25_15;
LBB25_23:
ld.const.u64 	%rd271, [%rd266];
LBB25_24:
xor.b64  	%rd242, %rd271, %rd269;
cvt.u32.u64 	%r15, %rd242;
shr.u64 	%rd243, %rd242, 32;
cvt.u32.u64 	%r16, %rd243;
mul.wide.u32 %rd241, %r15, %r16;
add.s64 	%rd244, %rd270, %rd260;
add.s64 	%rd260, %rd244, %rd241;
add.s64 	%rd72, %rd268, 1;
add.s64 	%rd266, %rd266, 8;
add.s64 	%rd265, %rd265, 64;
setp.lt.u64 	%p16, %rd268, %rd41;
mov.u64 	%rd268, %rd72;
@%p16 bra 	LBB25_15;
bra.uni 	LBB25_25;
LBB25_15:
setp.eq.s64 	%p12, %rd41, %rd268;
selp.b64 	%rd58, %rd42, %rd265, %p12;
cvta.global.u64 	%rd200, %rd58;
add.s64 	%rd59, %rd58, %rd43;
and.b64  	%rd60, %rd200, 7;
setp.eq.s64 	%p13, %rd60, 0;
@%p13 bra 	LBB25_17;
ld.global.u8 	%rd201, [%rd59];
ld.global.u8 	%r9, [%rd59+1];
mul.wide.u32 	%rd202, %r9, 256;
or.b64  	%rd203, %rd202, %rd201;
ld.global.u8 	%r10, [%rd59+2];
mul.wide.u32 	%rd204, %r10, 65536;
or.b64  	%rd205, %rd203, %rd204;
ld.global.u8 	%r11, [%rd59+3];
mul.wide.u32 	%rd206, %r11, 16777216;
or.b64  	%rd207, %rd205, %rd206;
ld.global.u8 	%rd208, [%rd59+4];
shl.b64 	%rd209, %rd208, 32;
or.b64  	%rd210, %rd207, %rd209;
ld.global.u8 	%rd211, [%rd59+5];
shl.b64 	%rd212, %rd211, 40;
or.b64  	%rd213, %rd210, %rd212;
ld.global.u8 	%rd214, [%rd59+6];
shl.b64 	%rd215, %rd214, 48;
or.b64  	%rd216, %rd213, %rd215;
ld.global.u8 	%rd217, [%rd59+7];
shl.b64 	%rd218, %rd217, 56;
or.b64  	%rd269, %rd216, %rd218;
bra.uni 	LBB25_18;
LBB25_17:
ld.global.u64 	%rd269, [%rd59];
LBB25_18:
add.s64 	%rd64, %rd58, %rd44;
@%p13 bra 	LBB25_20;
ld.global.u8 	%rd219, [%rd64];
ld.global.u8 	%r12, [%rd64+1];
mul.wide.u32 	%rd220, %r12, 256;
or.b64  	%rd221, %rd220, %rd219;
ld.global.u8 	%r13, [%rd64+2];
mul.wide.u32 	%rd222, %r13, 65536;
or.b64  	%rd223, %rd221, %rd222;
ld.global.u8 	%r14, [%rd64+3];
mul.wide.u32 	%rd224, %r14, 16777216;
or.b64  	%rd225, %rd223, %rd224;
ld.global.u8 	%rd226, [%rd64+4];
shl.b64 	%rd227, %rd226, 32;
or.b64  	%rd228, %rd225, %rd227;
ld.global.u8 	%rd229, [%rd64+5];
shl.b64 	%rd230, %rd229, 40;
or.b64  	%rd231, %rd228, %rd230;
ld.global.u8 	%rd232, [%rd64+6];
shl.b64 	%rd233, %rd232, 48;
or.b64  	%rd234, %rd231, %rd233;
ld.global.u8 	%rd235, [%rd64+7];
shl.b64 	%rd236, %rd235, 56;
or.b64  	%rd270, %rd234, %rd236;
bra.uni 	LBB25_21;
LBB25_20:
ld.global.u64 	%rd270, [%rd64];
LBB25_21:
setp.ne.s64 	%p15, %rd41, %rd268;
@%p15 bra 	LBB25_23;
ld.const.u64 	%rd237, [%rd45];
ld.const.u64 	%rd238, [%rd45+8];
shr.u64 	%rd239, %rd237, 8;
shl.b64 	%rd240, %rd238, 56;
or.b64  	%rd271, %rd240, %rd239;
bra.uni 	LBB25_24;
LBB25_25:
st.global.u64 	[%rd7], %rd260;
LBB25_26:
ret;
LBB25_2:
add.u64 	%rd4, %SPL, 0;
add.s64 	%rd10, %rd3, %rd86;
mov.u64 	%rd98, 0;
mov.u64 	%rd254, 32;
mov.u64 	%rd256, %rd98;
bra.uni 	LBB25_3;
LBB25_5:
add.s64 	%rd254, %rd252, 32;
setp.gt.u64 	%p5, %rd254, %rd76;
mov.u64 	%rd256, %rd252;
@%p5 bra 	LBB25_6;
LBB25_3:
mov.u64 	%rd252, %rd254;
shl.b64 	%rd100, %rd256, 6;
add.s64 	%rd101, %rd10, %rd100;
ld.global.u64 	%rd258, [%rd101];
st.local.u64 	[%rd4], %rd258;
ld.global.u64 	%rd102, [%rd101+64];
st.local.u64 	[%rd4+8], %rd102;
ld.global.u64 	%rd103, [%rd101+128];
st.local.u64 	[%rd4+16], %rd103;
ld.global.u64 	%rd104, [%rd101+192];
st.local.u64 	[%rd4+24], %rd104;
ld.global.u64 	%rd105, [%rd101+256];
st.local.u64 	[%rd4+32], %rd105;
ld.global.u64 	%rd106, [%rd101+320];
st.local.u64 	[%rd4+40], %rd106;
ld.global.u64 	%rd107, [%rd101+384];
st.local.u64 	[%rd4+48], %rd107;
ld.global.u64 	%rd108, [%rd101+448];
st.local.u64 	[%rd4+56], %rd108;
ld.global.u64 	%rd109, [%rd101+512];
st.local.u64 	[%rd4+64], %rd109;
ld.global.u64 	%rd110, [%rd101+576];
st.local.u64 	[%rd4+72], %rd110;
ld.global.u64 	%rd111, [%rd101+640];
st.local.u64 	[%rd4+80], %rd111;
ld.global.u64 	%rd112, [%rd101+704];
st.local.u64 	[%rd4+88], %rd112;
ld.global.u64 	%rd113, [%rd101+768];
st.local.u64 	[%rd4+96], %rd113;
ld.global.u64 	%rd114, [%rd101+832];
st.local.u64 	[%rd4+104], %rd114;
ld.global.u64 	%rd115, [%rd101+896];
st.local.u64 	[%rd4+112], %rd115;
ld.global.u64 	%rd116, [%rd101+960];
st.local.u64 	[%rd4+120], %rd116;
ld.global.u64 	%rd117, [%rd101+1024];
st.local.u64 	[%rd4+128], %rd117;
ld.global.u64 	%rd118, [%rd101+1088];
st.local.u64 	[%rd4+136], %rd118;
ld.global.u64 	%rd119, [%rd101+1152];
st.local.u64 	[%rd4+144], %rd119;
ld.global.u64 	%rd120, [%rd101+1216];
st.local.u64 	[%rd4+152], %rd120;
ld.global.u64 	%rd121, [%rd101+1280];
st.local.u64 	[%rd4+160], %rd121;
ld.global.u64 	%rd122, [%rd101+1344];
st.local.u64 	[%rd4+168], %rd122;
ld.global.u64 	%rd123, [%rd101+1408];
st.local.u64 	[%rd4+176], %rd123;
ld.global.u64 	%rd124, [%rd101+1472];
st.local.u64 	[%rd4+184], %rd124;
ld.global.u64 	%rd125, [%rd101+1536];
st.local.u64 	[%rd4+192], %rd125;
ld.global.u64 	%rd126, [%rd101+1600];
st.local.u64 	[%rd4+200], %rd126;
ld.global.u64 	%rd127, [%rd101+1664];
st.local.u64 	[%rd4+208], %rd127;
ld.global.u64 	%rd128, [%rd101+1728];
st.local.u64 	[%rd4+216], %rd128;
ld.global.u64 	%rd129, [%rd101+1792];
st.local.u64 	[%rd4+224], %rd129;
ld.global.u64 	%rd130, [%rd101+1856];
st.local.u64 	[%rd4+232], %rd130;
ld.global.u64 	%rd131, [%rd101+1920];
st.local.u64 	[%rd4+240], %rd131;
ld.global.u64 	%rd132, [%rd101+1984];
st.local.u64 	[%rd4+248], %rd132;
mov.u64 	%rd257, %rd98;
LBB25_4:
add.s64 	%rd133, %rd258, %rd260;
shr.u64 	%rd134, %rd133, 47;
xor.b64  	%rd135, %rd133, %rd9;
xor.b64  	%rd136, %rd135, %rd134;
mul.lo.s64 	%rd137, %rd136, 2654435761;
add.s64 	%rd36, %rd4, %rd257;
ld.local.u64 	%rd138, [%rd36+8];
add.s64 	%rd139, %rd138, %rd137;
shr.u64 	%rd140, %rd139, 47;
xor.b64  	%rd141, %rd139, %rd9;
xor.b64  	%rd142, %rd141, %rd140;
mul.lo.s64 	%rd143, %rd142, 2654435761;
ld.local.u64 	%rd144, [%rd36+16];
add.s64 	%rd145, %rd144, %rd143;
shr.u64 	%rd146, %rd145, 47;
xor.b64  	%rd147, %rd145, %rd9;
xor.b64  	%rd148, %rd147, %rd146;
mul.lo.s64 	%rd149, %rd148, 2654435761;
ld.local.u64 	%rd150, [%rd36+24];
add.s64 	%rd151, %rd150, %rd149;
shr.u64 	%rd152, %rd151, 47;
xor.b64  	%rd153, %rd151, %rd9;
xor.b64  	%rd154, %rd153, %rd152;
mul.lo.s64 	%rd260, %rd154, 2654435761;
cvt.u32.u64 	%r5, %rd257;
setp.eq.s32 	%p4, %r5, 224;
@%p4 bra 	LBB25_5;
ld.local.u64 	%rd258, [%rd36+32];
add.s64 	%rd257, %rd257, 32;
bra.uni 	LBB25_4;
}
)ptx";
constexpr char k_xxh3_finish[] = R"ptx(.visible .entry xxh3_finish(
.param .u64 xxh3_finish_param_0,
.param .u64 xxh3_finish_param_1,
.param .u64 xxh3_finish_param_2,
.param .u64 xxh3_finish_param_3,
.param .u64 xxh3_finish_param_4,
.param .u64 xxh3_finish_param_5,
.param .u64 xxh3_finish_param_6,
.param .u64 xxh3_finish_param_7,
.param .u64 xxh3_finish_param_8
)
{
.reg .pred 	%p<2>;
.reg .b32 	%r<4>;
.reg .b64 	%rd<87>;
mov.u32 	%r1, %ctaid.x;
mov.u32 	%r2, %ntid.x;
mul.wide.s32 	%rd6, %r1, %r2;
ld.param.u64 	%rd7, [xxh3_finish_param_7];
mov.u32 	%r3, %tid.x;
cvt.s64.s32 	%rd8, %r3;
add.s64 	%rd9, %rd6, %rd8;
setp.ge.u64 	%p1, %rd9, %rd7;
@%p1 bra 	LBB26_2;
ld.param.u64 	%rd3, [xxh3_finish_param_5];
ld.param.u64 	%rd4, [xxh3_finish_param_0];
ld.param.u64 	%rd5, [xxh3_finish_param_3];
cvta.to.global.u64 	%rd1, %rd5;
cvta.to.global.u64 	%rd2, %rd4;
mul.lo.s64 	%rd10, %rd3, -7046029288634856825;
ld.global.u64 	%rd11, [%rd2];
xor.b64  	%rd12, %rd11, 7914194659941938988;
ld.global.u64 	%rd13, [%rd2+8];
xor.b64  	%rd14, %rd13, -6611157965513653271;
mul.lo.s64 	%rd15, %rd14, %rd12;
ld.global.u64 	%rd16, [%rd2+16];
xor.b64  	%rd17, %rd16, -1839215637059881052;
ld.global.u64 	%rd18, [%rd2+24];
xor.b64  	%rd19, %rd18, -3433288310154277810;
mul.lo.s64 	%rd20, %rd19, %rd17;
ld.global.u64 	%rd21, [%rd2+32];
xor.b64  	%rd22, %rd21, 5046485836271438973;
ld.global.u64 	%rd23, [%rd2+40];
xor.b64  	%rd24, %rd23, -8055285457383852172;
mul.lo.s64 	%rd25, %rd24, %rd22;
ld.global.u64 	%rd26, [%rd2+48];
ld.global.u64 	%rd27, [%rd2+56];
xor.b64  	%rd28, %rd26, 5920048007935066598;
mul.hi.u64 	%rd29, %rd14, %rd12;
xor.b64  	%rd30, %rd29, %rd15;
add.s64 	%rd31, %rd10, %rd30;
mul.hi.u64 	%rd32, %rd19, %rd17;
xor.b64  	%rd33, %rd32, %rd20;
add.s64 	%rd34, %rd31, %rd33;
mul.hi.u64 	%rd35, %rd24, %rd22;
xor.b64  	%rd36, %rd35, %rd25;
add.s64 	%rd37, %rd34, %rd36;
xor.b64  	%rd38, %rd27, 7336514198459093435;
mul.lo.s64 	%rd39, %rd38, %rd28;
mul.hi.u64 	%rd40, %rd38, %rd28;
xor.b64  	%rd41, %rd40, %rd39;
add.s64 	%rd42, %rd37, %rd41;
shr.u64 	%rd43, %rd42, 37;
xor.b64  	%rd44, %rd43, %rd42;
mul.lo.s64 	%rd45, %rd44, 1609587791953885689;
shr.u64 	%rd46, %rd45, 32;
xor.b64  	%rd47, %rd46, %rd45;
st.global.u64 	[%rd1], %rd47;
mul.lo.s64 	%rd48, %rd3, -4417276706812531889;
not.b64 	%rd49, %rd48;
ld.global.u64 	%rd50, [%rd2];
xor.b64  	%rd51, %rd50, -2753530472436770380;
ld.global.u64 	%rd52, [%rd2+8];
xor.b64  	%rd53, %rd52, 3784058077962335096;
mul.lo.s64 	%rd54, %rd53, %rd51;
ld.global.u64 	%rd55, [%rd2+16];
xor.b64  	%rd56, %rd55, -360392965937173549;
ld.global.u64 	%rd57, [%rd2+24];
xor.b64  	%rd58, %rd57, -5237161843349560557;
mul.lo.s64 	%rd59, %rd58, %rd56;
ld.global.u64 	%rd60, [%rd2+32];
xor.b64  	%rd61, %rd60, 2965150961192524528;
ld.global.u64 	%rd62, [%rd2+40];
xor.b64  	%rd63, %rd62, 9032178055121889492;
mul.lo.s64 	%rd64, %rd63, %rd61;
ld.global.u64 	%rd65, [%rd2+48];
ld.global.u64 	%rd66, [%rd2+56];
xor.b64  	%rd67, %rd65, 8850058120466833735;
mul.hi.u64 	%rd68, %rd53, %rd51;
xor.b64  	%rd69, %rd68, %rd54;
add.s64 	%rd70, %rd69, %rd49;
mul.hi.u64 	%rd71, %rd58, %rd56;
xor.b64  	%rd72, %rd71, %rd59;
add.s64 	%rd73, %rd70, %rd72;
mul.hi.u64 	%rd74, %rd63, %rd61;
xor.b64  	%rd75, %rd74, %rd64;
add.s64 	%rd76, %rd73, %rd75;
xor.b64  	%rd77, %rd66, -7669846995664752176;
mul.lo.s64 	%rd78, %rd77, %rd67;
mul.hi.u64 	%rd79, %rd77, %rd67;
xor.b64  	%rd80, %rd79, %rd78;
add.s64 	%rd81, %rd76, %rd80;
shr.u64 	%rd82, %rd81, 37;
xor.b64  	%rd83, %rd82, %rd81;
mul.lo.s64 	%rd84, %rd83, 1609587791953885689;
shr.u64 	%rd85, %rd84, 32;
xor.b64  	%rd86, %rd85, %rd84;
st.global.u64 	[%rd1+8], %rd86;
LBB26_2:
ret;
})ptx";
constexpr Ptx kAll[] = {{"cast_bf16", k_cast_bf16}, {"cast_f16", k_cast_f16}, {"cast_f32", k_cast_f32}, {"cast_f8_e4m3fn", k_cast_f8_e4m3fn}, {"cast_f8_e5m2", k_cast_f8_e5m2}, {"ggml_iq4_nl", k_ggml_iq4_nl}, {"ggml_iq4_xs", k_ggml_iq4_xs}, {"ggml_q2_k", k_ggml_q2_k}, {"ggml_q3_k", k_ggml_q3_k}, {"ggml_q4_0", k_ggml_q4_0}, {"ggml_q4_1", k_ggml_q4_1}, {"ggml_q4_k", k_ggml_q4_k}, {"ggml_q5_0", k_ggml_q5_0}, {"ggml_q5_1", k_ggml_q5_1}, {"ggml_q5_k", k_ggml_q5_k}, {"ggml_q6_k", k_ggml_q6_k}, {"ggml_q8_0", k_ggml_q8_0}, {"grid_f8_e4m3fn", k_grid_f8_e4m3fn}, {"mcf_k2", k_mcf_k2}, {"mcf_k3", k_mcf_k3}, {"mcf_k4", k_mcf_k4}, {"mcf_k6", k_mcf_k6}, {"mcf_q4", k_mcf_q4}, {"mcf_q8", k_mcf_q8}, {"xxh3_chain", k_xxh3_chain}, {"xxh3_finish", k_xxh3_finish}, {"xxh3_sums", k_xxh3_sums}};
// clang-format on

}  // namespace

std::string_view ptx_head() { return kHead; }
std::span<const Ptx> all_ptx() { return kAll; }

}  // namespace tare::device
