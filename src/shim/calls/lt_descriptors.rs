//! Descriptors of hipBLASLt: made, changed, destroyed. The program's calls feed what is known of them.
#![allow(unsafe_code)] // reads the results and attributes of calls that have just succeeded

use crate::abi::Pointer;
use crate::abi::hipblaslt::*;
use crate::descriptors::{Descriptor, Layout, Product};
use crate::hook::Observed;
use crate::lifecycle::guarded;
use rocshim_ring::Span;

/// The descriptor that a successful call has made; `None` when there is none.
fn made(out: *const Pointer, status: hipblasStatus_t) -> Option<u64> {
    // SAFETY: the call succeeded, so it has stored a descriptor here.
    (status == 0 && !out.is_null()).then(|| unsafe { *out } as u64)
}

/// `hipblasLtMatrixLayoutCreate`.
pub(crate) struct CreateLayout {
    pub(crate) out: *const hipblasLtMatrixLayout_t,
    pub(crate) element: hipDataType,
    pub(crate) rows: u64,
    pub(crate) cols: u64,
    pub(crate) ld: i64,
}

impl Observed<hipblasStatus_t> for CreateLayout {
    const SILENT: bool = true;

    fn finish(self, _span: Option<Span>, _returned: u64, status: hipblasStatus_t) {
        let Some(address) = made(self.out, status) else { return };
        let CreateLayout { element, rows, cols, ld, .. } = self;
        let layout = Layout { element, rows, cols, ld, batch: 1, stride: 0, order: 0 };
        guarded(|process| process.descriptors.made(address, Descriptor::Layout(layout)));
    }
}

/// `hipblasLtMatmulDescCreate`.
pub(crate) struct CreateProduct {
    pub(crate) out: *const hipblasLtMatmulDesc_t,
    pub(crate) compute: hipblasComputeType_t,
    pub(crate) scale: hipDataType,
}

impl Observed<hipblasStatus_t> for CreateProduct {
    const SILENT: bool = true;

    fn finish(self, _span: Option<Span>, _returned: u64, status: hipblasStatus_t) {
        let Some(address) = made(self.out, status) else { return };
        let product = Product {
            compute: [self.compute, self.scale],
            trans: [HIPBLAS_OP_N; 2],
            epilogue: HIPBLASLT_EPILOGUE_DEFAULT,
            bias: 0,
            bias_type: HIPBLASLT_DATATYPE_INVALID,
            scales: [0; 4],
            scale_modes: [0; 2],
            aux: 0,
            aux_ld: 0,
            pointer_mode: 0,
        };
        guarded(|process| process.descriptors.made(address, Descriptor::Product(product)));
    }
}

/// An attribute of a descriptor is set.
pub(crate) struct SetAttribute {
    pub(crate) descriptor: Pointer,
    pub(crate) attribute: u32,
    pub(crate) value: Pointer,
    pub(crate) bytes: usize,
}

impl SetAttribute {
    /// The value, if there is one of this size.
    fn read<T: Copy>(&self) -> Option<T> {
        let value = self.value.cast::<T>();
        // SAFETY: the call succeeded, so the library has read as many of these `bytes` as a `T` has.
        (!value.is_null() && self.bytes >= size_of::<T>()).then(|| unsafe { value.read_unaligned() })
    }
}

impl Observed<hipblasStatus_t> for SetAttribute {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a descriptor has made it

    fn finish(self, _span: Option<Span>, _returned: u64, status: hipblasStatus_t) {
        if status == 0 {
            guarded(|process| process.descriptors.changed(self.descriptor as u64, |it| self.put_into(it)));
        }
    }
}

impl SetAttribute {
    fn put_into(&self, descriptor: &mut Descriptor) {
        // Where the value is too short, the library has left the attribute as it was.
        let _ = match descriptor {
            Descriptor::Layout(layout) => self.put_into_layout(layout),
            Descriptor::Product(product) => self.put_into_product(product),
        };
    }

    fn put_into_layout(&self, layout: &mut Layout) -> Option<()> {
        match self.attribute {
            HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT => layout.batch = self.read()?,
            HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET => layout.stride = self.read()?,
            HIPBLASLT_MATRIX_LAYOUT_TYPE => layout.element = self.read()?,
            HIPBLASLT_MATRIX_LAYOUT_ORDER => layout.order = self.read()?,
            HIPBLASLT_MATRIX_LAYOUT_ROWS => layout.rows = self.read()?,
            HIPBLASLT_MATRIX_LAYOUT_COLS => layout.cols = self.read()?,
            HIPBLASLT_MATRIX_LAYOUT_LD => layout.ld = self.read()?,
            _ => {}
        }
        Some(())
    }

    fn put_into_product(&self, product: &mut Product) -> Option<()> {
        match self.attribute {
            HIPBLASLT_MATMUL_DESC_TRANSA => product.trans[0] = self.read()?,
            HIPBLASLT_MATMUL_DESC_TRANSB => product.trans[1] = self.read()?,
            HIPBLASLT_MATMUL_DESC_EPILOGUE => product.epilogue = self.read()?,
            HIPBLASLT_MATMUL_DESC_BIAS_POINTER => product.bias = self.read()?,
            HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE => product.bias_type = self.read()?,
            _ if !product.is_of_rocm_6_on() => {}
            HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER => product.scales[0] = self.read()?,
            HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER => product.scales[1] = self.read()?,
            HIPBLASLT_MATMUL_DESC_C_SCALE_POINTER => product.scales[2] = self.read()?,
            HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER => product.scales[3] = self.read()?,
            HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER => product.aux = self.read()?,
            HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD => product.aux_ld = self.read()?,
            HIPBLASLT_MATMUL_DESC_POINTER_MODE => product.pointer_mode = self.read()?,
            HIPBLASLT_MATMUL_DESC_A_SCALE_MODE => product.scale_modes[0] = self.read()?,
            HIPBLASLT_MATMUL_DESC_B_SCALE_MODE => product.scale_modes[1] = self.read()?,
            _ => {}
        }
        Some(())
    }
}

/// A descriptor is destroyed. It is forgotten before: another thread may be given its address as soon as it is free.
pub(crate) struct DestroyDescriptor;

impl DestroyDescriptor {
    /// The call is about to be made.
    pub(crate) fn now(descriptor: Pointer) -> DestroyDescriptor {
        guarded(|process| process.descriptors.gone(descriptor as u64));
        DestroyDescriptor
    }
}

impl Observed<hipblasStatus_t> for DestroyDescriptor {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a descriptor has made it

    fn finish(self, _span: Option<Span>, _returned: u64, _status: hipblasStatus_t) {}
}

/// `hipblaslt_ext::copyMatmul`.
pub(crate) struct CopyProduct {
    pub(crate) from: hipblasLtMatmulDesc_t,
    pub(crate) to: hipblasLtMatmulDesc_t,
}

impl Observed<hipblasStatus_t> for CopyProduct {
    const SILENT: bool = true;
    const FRESHENS: bool = false; // whoever has a descriptor has made it

    fn finish(self, _span: Option<Span>, _returned: u64, status: hipblasStatus_t) {
        guarded(|process| match process.descriptors.get(self.from as u64) {
            Some(descriptor) if status == 0 => process.descriptors.made(self.to as u64, descriptor),
            _ => process.descriptors.gone(self.to as u64),
        });
    }
}
